/** The most levels of encoding. No server encodes a URL inside a URL more often. */
const MAX_LAYERS = 3;

/** A secret as it would appear in a header: its bytes as latin1, as Node represents them. */
export function asHeaderBytes(secret: string): string {
  return Buffer.from(secret, 'utf8').toString('latin1');
}

/** Whether a header's value contains a secret, plain or percent-encoded as in a URL or a form. */
export function holdsSecret(value: string, secretBytes: string, layers = MAX_LAYERS): boolean {
  if (value.includes(secretBytes)) return true;
  if (layers === 0 || !/[%+]/.test(value)) return false;
  // A plus is a space in a form, and itself elsewhere in a URL.
  return [value, value.replaceAll('+', ' ')].some((reading) => {
    const decoded = percentDecoded(reading);
    return decoded !== value && holdsSecret(decoded, secretBytes, layers - 1);
  });
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
