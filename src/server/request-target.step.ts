import { GatewayError } from '../errors/gateway-error.ts';
import type { ClientRequest } from '../http/client-request.ts';
import { requestContext } from './request-context.ts';
import { pathProblem } from '../http/request-path.ts';
import { isProxiedPath } from '../http/routes.ts';

/**
 * Refuses what must not be routed or sent on, before any credential is looked at: a target that is
 * not in origin form (RFC 9112 §3.2.1) on every route, and a malformed path on the proxied ones.
 */
export function requestTargetStep(request: ClientRequest): true {
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
  if (isProxiedPath(path)) {
    const problem = pathProblem(path);
    if (problem) {
      throw new GatewayError(
        'malformed_path',
        `The path ${problem}; send it in its plain, normalized form.`,
      );
    }
  } else {
    // What Express routes by is the path that was judged. With a query it would read a target that holds "#" by other
    // rules than ours: a backslash as a slash, "//name@host" as an address, and some not at all.
    // It would also answer broken percent-encoding by itself before any guard runs. As a literal "%" it reaches the
    // route, whose own checks then say what is wrong. Nothing of it is sent on.
    request.url = withLiteralPercents(path);
  }
  return true;
}

function withLiteralPercents(path: string): string {
  if (!path.includes('%')) return path;
  return path
    .split('/')
    .map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')))
    .join('/');
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}
