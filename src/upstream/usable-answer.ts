import type { Upstream } from './upstreams.ts';

/** The upstream refused the gateway's own credential; so it did nothing of what it was asked. */
export class RefusedCredential extends Error {
  constructor(status: number, setting: string) {
    super(`the upstream refused the gateway's own credential with ${status}: see ${setting}`);
  }
}

/** An answer whose head no client may get. */
export class UnusableAnswer extends Error {}

/**
 * Why no client may get what an upstream answered, if none may: a status that is none, a transfer coding that
 * nobody undoes, both of which Node's parser lets pass, and a 401 or 403. Those mean the gateway's own credential,
 * as no client's ever gets to an upstream. Passed on they would read like the client's own, and clients stop at
 * them for good.
 *
 * `header` gives the value of one of the answer's headers by its name in lower case.
 */
export function answerFault(
  { credentialSetting, protocol }: Pick<Upstream, 'credentialSetting' | 'protocol'>,
  status: number,
  header: (lowerName: string) => string | undefined,
): RefusedCredential | UnusableAnswer | undefined {
  if ((status === 401 || status === 403) && !protocol.isForClient?.(status, header)) {
    return new RefusedCredential(status, credentialSetting);
  }
  if (status < 200) return new UnusableAnswer(`the upstream answered with the status ${status}`);
  const coding = header('transfer-encoding');
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined;
  return new UnusableAnswer(`the upstream answered in the transfer coding ${coding}`);
}
