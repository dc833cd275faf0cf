import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

export const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

const POOL_BYTES = 4_096;
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/** The client's `X-Request-Id` if it has 1 to 128 characters of `[A-Za-z0-9._-]`, or else a new ULID. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : freshUlid();
}

/**
 * A new ULID (github.com/ulid/spec): 48 bits of time in milliseconds and 80 random bits. By default the package
 * requests each random byte from the system, which takes 65 µs per id.
 */
export function freshUlid(): string {
  return ulid(undefined, randomFraction);
}

/** A number from 0 to below 1 from a random byte. The package uses five bits of it. */
function randomFraction(): number {
  if (used === POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  return (pool[used++] ?? 0) / 256;
}
