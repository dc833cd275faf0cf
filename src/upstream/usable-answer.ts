import type { GatewayError } from '../errors/gateway-error.ts';
import { invalidUpstreamResponse, refusedCredential } from './upstream-failure.ts';
import type { Upstream } from './upstreams.ts';

/**
 * The error to answer in place of what an upstream answered, where no client may get that: a status that
 * is none, a transfer coding that nobody undoes, both of which Node's parser lets pass, and a 401 or 403.
 * Those mean the gateway's own credential, as no client's ever gets to an upstream. Passed on they would
 * read like the client's own, and clients stop at them for good.
 *
 * `header` gives the value of one of the answer's headers by its name in lower case.
 */
export function answerProblem(
  upstream: Pick<Upstream, 'name' | 'credentialSetting'>,
  status: number,
  header: (lowerName: string) => string | undefined,
): GatewayError | undefined {
  const isRefused = status === 401 || (status === 403 && !isFenced(upstream, header));
  if (isRefused) {
    return invalidUpstreamResponse(refusedCredential(status, upstream.credentialSetting));
  }
  const coding = header('transfer-encoding');
  const isPlain = coding === undefined || coding.toLowerCase() === 'chunked';
  return status >= 200 && isPlain ? undefined : invalidUpstreamResponse();
}

/**
 * The one 403 of a history store that is for the client: a later producer of the same id has taken over,
 * whose epoch comes with it (Durable Streams PROTOCOL.md, "Idempotent Producers").
 */
function isFenced(
  { name }: Pick<Upstream, 'name'>,
  header: (lowerName: string) => string | undefined,
): boolean {
  return name === 'history' && header('producer-epoch') !== undefined;
}
