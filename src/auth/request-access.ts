import type { Scope } from '../contract/api-key.ts';
import type { RequestRecord } from '../platform/telemetry/request-record.ts';
import type { ReadToken } from './read-token.ts';

/** The credential that opened a request. */
export interface RequestAccess {
  /** The read token, or undefined if an API key opened the request. */
  readToken?: ReadToken;
  /** The scope that the API key needed. */
  scope?: Scope;
}

/** The credential that opened a request, or undefined if none did, such as on a public route. */
export function accessOf(context: Pick<RequestRecord, 'access'>): RequestAccess | undefined {
  return context.access as RequestAccess | undefined;
}
