import { randomFillSync } from 'node:crypto';
import { encodeTime } from 'ulid';

/** Crockford's base 32, in which a ULID is written. */
const DIGITS = Buffer.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 'latin1');
const TIME_LENGTH = 10;
const LENGTH = 26;
const POOL_BYTES = 4_096;

const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;
const text = Buffer.allocUnsafeSlow(LENGTH);
let writtenMs = -1;

/**
 * A new ULID (github.com/ulid/spec): 48 bits of time in milliseconds, 80 random ones. Written in one piece:
 * the package puts it together character by character, which takes ten times as long, and leaves a string
 * of as many pieces to be kept with every parked read.
 */
export function freshUlid(): string {
  const nowMs = Date.now();
  if (nowMs !== writtenMs) {
    text.write(encodeTime(nowMs), 'latin1');
    writtenMs = nowMs;
  }
  if (used > POOL_BYTES - LENGTH) {
    randomFillSync(pool);
    used = 0;
  }
  // Five bits of a random byte are five random bits.
  for (let at = TIME_LENGTH; at < LENGTH; at++) text[at] = DIGITS[(pool[used++] ?? 0) & 31] ?? 0;
  return text.toString('latin1');
}
