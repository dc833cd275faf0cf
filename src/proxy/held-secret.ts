/** More than any server encodes a URL inside a URL. */
const MAX_LAYERS = 3;

/** A secret as it would stand in a header: its bytes, which Node hands over as latin1. */
export function asHeaderBytes(secret: string): string {
  return Buffer.from(secret, 'utf8').toString('latin1');
}

/** Whether a header's value holds a secret, plain or percent-encoded as a URL or a form has it. */
export function holdsSecret(value: string, secretBytes: string, layers = MAX_LAYERS): boolean {
  if (value.includes(secretBytes)) return true;
  if (layers === 0 || !/[%+]/.test(value)) return false;
  // In a form a plus is a space, in any other place of a URL it is itself.
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
