/** 128 random bits. `crypto.randomUUID` is not used, because pages served by plain HTTP do not have it. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
