/** 128 random bits. Not `crypto.randomUUID`, which a page that is served by plain HTTP does not have. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
