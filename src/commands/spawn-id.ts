import { createHash } from 'node:crypto';
import { freshUlid } from '../platform/http/fresh-ulid.ts';

/** Crockford's base 32 in lower case, as a ULID writes its 128 bits. */
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const ULID_LENGTH = 26;

/** A fresh lowercase ULID. */
export function freshId(): string {
  return freshUlid().toLowerCase();
}

/**
 * The id of a keyed spawn that names none: the first 128 bits of a SHA-256 over tenant, type and
 * key, as a lowercase ULID. The runtime deduplicates per entity, so a retry with the same key has
 * to name the same entity or it would spawn a second one.
 */
export function derivedId(tenant: string, type: string, idempotencyKey: string): string {
  // None of the three can hold a line feed, so the joined text is unambiguous.
  const digest = createHash('sha256').update(`${tenant}\n${type}\n${idempotencyKey}`).digest('hex');
  let bits = BigInt(`0x${digest.slice(0, 32)}`);
  let id = '';
  for (let i = 0; i < ULID_LENGTH; i++) {
    id = CROCKFORD[Number(bits & 31n)] + id;
    bits >>= 5n;
  }
  return id;
}
