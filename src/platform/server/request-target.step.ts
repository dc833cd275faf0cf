import { GatewayError } from '../errors/gateway-error.ts';
import { requestContext } from './request-context.ts';
import { pathProblem, uriDecoded } from '../http/request-path.ts';
import type { Step } from './request-way.ts';

/**
 * Refuses requests that must not be routed or forwarded, before any credential is checked: on every route a target
 * that is not in origin form (RFC 9112 §3.2.1), and a malformed path where `isForwarded` says that it is sent on.
 */
export function requestTargetStep(isForwarded: (path: string) => boolean): Step {
  return (request) => {
    const { path } = requestContext(request);
    // RFC 9112 §3.2.
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw new GatewayError('malformed_path', 'An HTTP/1.1 request must have a Host header.', {
        headers: { Connection: 'close' },
      });
    }
    if (!path.startsWith('/') || path.includes('#')) {
      throw new GatewayError(
        'malformed_path',
        'The request target must be a path beginning with "/", with an optional query (origin form).',
      );
    }
    if (isForwarded(path)) {
      const problem = pathProblem(path);
      if (problem) {
        throw new GatewayError(
          'malformed_path',
          `The path ${problem}; send it in its plain, normalized form.`,
        );
      }
    } else {
      // Express routes by the path that was checked. With a query it would parse a target that contains "#" by other
      // rules: a backslash as a slash, "//name@host" as an address, and some not at all. It would also answer broken
      // percent-encoding itself, before any guard runs. As a literal "%" such a path reaches the route, whose own
      // checks say what is wrong. None of this is forwarded.
      request.url = withLiteralPercents(path);
    }
    return true;
  };
}

function withLiteralPercents(path: string): string {
  if (!path.includes('%')) return path;
  return path
    .split('/')
    .map((segment) =>
      uriDecoded(segment) === undefined ? segment.replaceAll('%', '%25') : segment,
    )
    .join('/');
}
