import { createHash } from 'node:crypto';

const NAMED = /(r\d+c\d+q\d+)z([0-9a-f]{4})/;

/** An id with a checksum, so that a mutated id is never the id of another request. */
export function checkedId(name: string): string {
  return `${name}z${checksum(name)}`;
}

/** The unchanged id in a text, if there is one. */
export function idIn(text: string): string | undefined {
  const [id, name = '', sum] = NAMED.exec(text) ?? [];
  return sum === checksum(name) ? id : undefined;
}

function checksum(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 4);
}
