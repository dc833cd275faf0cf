import type { Scope } from '../platform/config/api-key.ts';
import { ContextSlot, type RequestContext } from '../platform/server/request-context.ts';
import type { ReadToken } from './read-token.ts';

/** The credential that opened a request. */
export interface RequestAccess {
  /** Identifies a credential for the limits, independent of its spelling. It is a digest, and never logged. */
  credentialId: string;
  /** The read token, or undefined if an API key opened the request. */
  readToken?: ReadToken;
  /** The scope that the API key needed. */
  scope?: Scope;
}

const ACCESS = new ContextSlot<RequestAccess>();

/** The credential that opened a request, or undefined if none did, such as on a public route. */
export function accessOf(context: Pick<RequestContext, 'kept'>): RequestAccess | undefined {
  return ACCESS.of(context);
}

/** Notes that the request has a valid API key, whether or not the key opens the route. */
export function sentWithKey(context: RequestContext, name: string): void {
  context.credential = name;
}

/** Notes that the request has a valid read token, whether or not the token opens the route. */
export function sentWithToken(context: RequestContext, subject: string | undefined): void {
  context.credential = 'read-token';
  context.subject = subject;
}

/** Notes that an API key opened the request. `credentialId` is the base64 of the key's SHA-256. */
export function openedByKey(context: RequestContext, credentialId: string, scope: Scope): void {
  ACCESS.set(context, { credentialId, scope });
}

/** Notes that a read token opened the request. */
export function openedByToken(context: RequestContext, readToken: ReadToken): void {
  ACCESS.set(context, { credentialId: readToken.credentialId, readToken });
  context.tokenEndsAtMs = readToken.expiresAtSeconds * 1_000;
}
