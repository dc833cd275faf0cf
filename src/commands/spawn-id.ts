import { createHash } from 'node:crypto';
import { uuidToULID } from 'ulid';
import { freshUlid } from '../platform/http/request-id.ts';

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
  const uuid = digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return uuidToULID(uuid).toLowerCase();
}
