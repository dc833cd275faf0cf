/** RFC 3986 §3.3: the characters of a segment. A `?` or `#` would end the path. */
const SEGMENT = /^(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})+$/i;
/** What a server that decodes once more would take for a dot, a slash, a backslash or a control character. */
const ENCODED_TWICE = /%(?:2e|2f|5c|[01][\da-f]|7f|c2%[89])/i;

/**
 * Checks a path of the gateway that a caller gave a part of, such as the name of a user: one that leads elsewhere must
 * not carry the credential there. Throws a TypeError for a path that the gateway refuses (a dot segment, an empty segment, a
 * backslash, a control character, broken percent-encoding, each also encoded), and for one with `?` or `#`.
 */
export function checkedPath(path: string): string {
  const [first, ...segments] = path.split('/');
  // A slash at the end is a part of the name to the gateway.
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();
  if (first !== '' || segments.length === 0 || !segments.every(isPlain)) {
    throw new TypeError(`${JSON.stringify(path)} is no path of the gateway.`);
  }
  return path;
}

function isPlain(segment: string): boolean {
  if (!SEGMENT.test(segment)) return false;
  try {
    const name = decodeURIComponent(segment);
    return name !== '.' && name !== '..' && !/[/\\\p{Cc}]/u.test(name) && !ENCODED_TWICE.test(name);
  } catch {
    return false;
  }
}
