/** Scheme, host and port as they stand in `Origin`, of a scheme that URLs say nothing of. */
const OTHER_ORIGIN =
  /^(?!file:)[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/**
 * Whether a text is an origin as a browser sends it (RFC 6454 §6.2). Of `capacitor://localhost` and the like,
 * which are pages inside an app, a URL gives no origin; `file:` and its like have `null`, which is anybody's.
 */
export function isExactOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return origin === 'null' ? OTHER_ORIGIN.test(text) : origin === text && !text.includes('*');
}
