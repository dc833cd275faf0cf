import type { UpstreamProtocol } from './protocols/upstream-protocol.ts';

/** What an upstream's responses are judged by. */
export interface JudgingUpstream {
  /** The setting of its credential, for the log. */
  readonly credentialSetting: string;
  readonly protocol: UpstreamProtocol;
}

/** The upstream refused the gateway's own credential and did nothing. */
export class RefusedCredential extends Error {
  constructor(status: number, setting: string) {
    super(`the upstream refused the gateway's own credential with ${status}: see ${setting}`);
  }
}

/** A response whose head must not be sent to a client. */
export class UnusableAnswer extends Error {}

/**
 * The reason why a response must not be sent to a client, if there is one. An invalid status and an unknown transfer
 * coding are reasons, because Node's parser accepts both. So are 401 and 403: they concern the gateway's own credential,
 * because the client's never reaches an upstream. A client would take them for its own and stop for good. `header` returns
 * the value of a response header by its name in lower case.
 */
export function answerFault(
  { credentialSetting, protocol }: JudgingUpstream,
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
