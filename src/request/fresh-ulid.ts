import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const POOL_SIZE = 1_024;
const pool = new Uint32Array(POOL_SIZE);
let used = POOL_SIZE;

/** A new ULID. The package asks for random bytes one at a time, which costs more than all of the rest. */
export function freshUlid(): string {
  return ulid(undefined, randomFraction);
}

/** From 0 up to 1, cryptographically random. */
function randomFraction(): number {
  if (used === POOL_SIZE) {
    randomFillSync(pool);
    used = 0;
  }
  return (pool[used++] ?? 0) / 2 ** 32;
}
