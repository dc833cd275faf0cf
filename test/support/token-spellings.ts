const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
/** The order of the group of P-256 (FIPS 186-4, D.1.2.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Other spellings of a token: each has one part spelled differently that decodes to the same bytes. */
export function spellings(token: string): string[] {
  const parts = token.split('.');
  return parts.flatMap((part, at) => {
    const bytes = Buffer.from(part, 'base64url');
    return ALPHABET.map((char) => part.slice(0, -1) + char)
      .filter((other) => other !== part && Buffer.from(other, 'base64url').equals(bytes))
      .map((other) => parts.with(at, other).join('.'));
  });
}

/** An ES256 token with the other signature that verifies: (r, n − s) in place of (r, s). */
export function twinOf(token: string): string {
  const [header, payload, signature = ''] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const s = BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  const twin = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex');
  return [header, payload, Buffer.concat([bytes.subarray(0, 32), twin]).toString('base64url')].join(
    '.',
  );
}
