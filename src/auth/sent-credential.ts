import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { bearerCredential, credentialDigest } from './bearer.ts';

/** The credential that a request carries. */
export interface SentCredential {
  readonly credential: string;
  /** Its SHA-256. */
  readonly digest: Buffer;
  /** The digest in base64. */
  readonly id: string;
}

/** A longer `Authorization` is not kept: idle connections must not hold memory that no budget counts. */
const MAX_KEPT_LENGTH = 1_024;

const LAST = Symbol('the last credential of the connection');

/**
 * The credential of a request. Throws as `bearerCredential` does. The last one of each connection is kept, because its next
 * request usually has the same, and a digest costs a twentieth of a shared read. What is kept opens nothing: a digest depends on
 * the credential alone, and is looked up among the valid keys and tokens for each request.
 */
export function sentCredential(request: IncomingMessage): SentCredential {
  const credential = bearerCredential(request);
  const connection = request.socket as { [LAST]?: SentCredential | undefined };
  const last = connection[LAST];
  if (last && isSame(last.credential, credential)) return last;
  const digest = credentialDigest(credential);
  const sent = { credential, digest, id: digest.toString('base64') };
  // The whole header counts, because the text of the credential keeps it in memory.
  const length = request.headers.authorization?.length ?? 0;
  connection[LAST] = length <= MAX_KEPT_LENGTH ? sent : undefined;
  return sent;
}

/**
 * Compares in a time that depends on the length alone. A proxy sends requests of several clients on one connection, and none of
 * them may find out another's credential from how long a wrong one takes.
 */
function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
