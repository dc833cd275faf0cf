import { freshUlid } from './fresh-ulid.ts';

export const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's `X-Request-Id` if it has 1 to 128 characters of `[A-Za-z0-9._-]`, or else a new ULID. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : freshUlid();
}
