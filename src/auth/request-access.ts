import type { Scope } from '../config/api-key.ts';
import { ContextSlot, type RequestContext } from '../server/request-context.ts';
import type { ReadToken } from './read-token.ts';

/** What opened a request. */
export interface RequestAccess {
  /** Identifies a credential for the limits, independent of its spelling. It is a digest, and never logged. */
  credentialId: string;
  /** The read token; none where an API key opened the request. */
  readToken?: ReadToken;
  /** The scope that the API key needed. */
  scope?: Scope;
}

const ACCESS = new ContextSlot<RequestAccess>();

/** What opened a request; undefined where nothing has, such as on a public route. */
export function accessOf(context: Pick<RequestContext, 'kept'>): RequestAccess | undefined {
  return ACCESS.of(context);
}

/** The request has a valid API key, whatever that opens. */
export function sentWithKey(context: RequestContext, name: string): void {
  context.credential = name;
}

/** The request has a valid read token, whatever that opens. */
export function sentWithToken(context: RequestContext, subject: string | undefined): void {
  context.credential = 'read-token';
  context.subject = subject;
}

/** The request is let in with an API key; `credentialId` is the base64 of the key's SHA-256. */
export function openedByKey(context: RequestContext, credentialId: string, scope: Scope): void {
  ACCESS.set(context, { credentialId, scope });
}

/** The request is let in with a read token. */
export function openedByToken(context: RequestContext, readToken: ReadToken): void {
  ACCESS.set(context, { credentialId: readToken.credentialId, readToken });
  context.tokenEndsAtMs = readToken.expiresAtSeconds * 1_000;
}
