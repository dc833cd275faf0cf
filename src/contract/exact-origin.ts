/** Scheme, host and port of an `Origin` whose scheme the URL parser does not support. */
const OTHER_ORIGIN =
  /^(?!file:)[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/**
 * Whether a text is an origin as a browser sends it (RFC 6454 §6.2). URL parsers return no origin for
 * `capacitor://localhost` and other schemes of apps. Pages of `file:` and similar schemes send `null`, which anyone
 * can have.
 */
export function isExactOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return origin === 'null' ? OTHER_ORIGIN.test(text) : origin === text && !text.includes('*');
}
