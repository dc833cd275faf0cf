import { ContextSlot, type RequestContext } from '../server/request-context.ts';
import type { ReadToken } from './read-token.ts';

/** What opened a request. */
export interface RequestAccess {
  /** Tells one credential from another, for limits, whatever its spelling; a digest, and never logged. */
  credentialId: string;
  /** The read token; none where an API key opened the request. */
  readToken?: ReadToken;
}

const ACCESS = new ContextSlot<RequestAccess>();

/** What opened a request; undefined where nothing has, such as on a public route. */
export function accessOf(context: Pick<RequestContext, 'kept'>): RequestAccess | undefined {
  return ACCESS.of(context);
}

/** The request is let in with an API key. */
export function openedByKey(context: RequestContext, credentialId: string): void {
  ACCESS.set(context, { credentialId });
  context.credential = 'api-key';
}

/** The request is let in with a read token. */
export function openedByToken(context: RequestContext, readToken: ReadToken): void {
  ACCESS.set(context, { credentialId: readToken.credentialId, readToken });
  context.credential = 'read-token';
  context.tokenEndsAtMs = readToken.expiresAtSeconds * 1_000;
}
