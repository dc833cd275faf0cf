import { decodeLeniently } from '../http/request-path.ts';

/** Whether a text is a credential of this deployment, such as an API key. */
type CredentialCheck = (text: string) => boolean;

/** Of a path in a log, in characters. */
export const MAX_LOGGED_LENGTH = 512;
/** No server decodes a path more often. */
const MAX_LAYERS = 3;
/** How far an API key reaches that begins within the length, with each character encoded as often (`%252541`). */
const MAX_LOOK_LENGTH = MAX_LOGGED_LENGTH + (1 + 2 * MAX_LAYERS) * 256;
/** A read token or another JWT, or the beginning of one. Its first part is a JSON object in base64url. */
const TOKEN = /eyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g;
/** The lengths of what can be an API key within a segment of a path, without the `=` at its end. */
const MIN_KEY_LENGTH = 14;
const MAX_KEY_LENGTH = 256;
/** 1 for the code of each character that it may have. */
const IS_IN_KEY = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w.~+-]/.test(String.fromCharCode(code))),
);
/** What can be an API key with slashes, which base64 has. Paths rarely have capital letters, as such a key has. */
const POSSIBLE_JOINED_KEY = /^[\w.~+/=-]{16,256}$/;
const CAPITAL = /[A-Z]/;
/** The most segments of such a key. */
const MAX_JOINED_SEGMENTS = 16;
/** The most texts of a path that are checked, because each costs a digest. Any more are left out unchecked. */
const MAX_CHECKS = 32;

/**
 * A request path for logs and spans, without anything that may hold a credential, plain or percent-encoded: a fragment,
 * a target that is not a path (`http://user:password@host/`), text that looks like a token, and what `isCredential`
 * tells. A long path is cut.
 */
export function loggedPath(path: string, isCredential: CredentialCheck = never): string {
  if (!path.startsWith('/')) return '(no path)';
  const looked = path.slice(0, MAX_LOOK_LENGTH).replace(/#.*$/s, '');
  const plain = decoded(looked);
  let checks = 0;
  const isKey = (text: string): boolean => ++checks > MAX_CHECKS || isCredential(text);
  const cleaned = withoutKeys(plain.replace(TOKEN, '(token)'), isKey);
  return (cleaned === plain ? looked : cleaned).slice(0, MAX_LOGGED_LENGTH);
}

function decoded(text: string): string {
  let plain = text;
  for (let layer = 0; layer < MAX_LAYERS && plain.includes('%'); layer++) {
    plain = decodeLeniently(plain);
  }
  return plain;
}

function withoutKeys(path: string, isKey: CredentialCheck): string {
  const cleaned = withoutKeysOfSegments(path, isKey);
  if (!CAPITAL.test(cleaned)) return cleaned;
  // A key with slashes stands at the end of a path, or is the whole of it.
  let at = cleaned.length;
  for (let count = 0; count < MAX_JOINED_SEGMENTS && at > 0; count++) {
    at = cleaned.lastIndexOf('/', at - 1);
    const end = cleaned.slice(at + 1);
    if (POSSIBLE_JOINED_KEY.test(end) && isKey(end)) return `${cleaned.slice(0, at + 1)}(key)`;
  }
  return cleaned;
}

/** Looks at each run of characters that keys have. A regular expression takes five times as long. */
function withoutKeysOfSegments(path: string, isKey: CredentialCheck): string {
  let cleaned = '';
  let copiedTo = 0;
  let start = 0;
  for (let end = 0; end <= path.length; end++) {
    const code = end < path.length ? path.charCodeAt(end) : 0;
    const isInRun = code < IS_IN_KEY.length && IS_IN_KEY[code] === 1;
    if (isInRun && end - start < MAX_KEY_LENGTH) continue;
    if (end - start >= MIN_KEY_LENGTH) {
      let after = end;
      while (path[after] === '=') after++;
      if (isKey(path.slice(start, after)) || (after > end && isKey(path.slice(start, end)))) {
        cleaned += `${path.slice(copiedTo, start)}(key)`;
        copiedTo = after;
      }
    }
    start = isInRun ? end : end + 1;
  }
  return copiedTo === 0 ? path : cleaned + path.slice(copiedTo);
}

function never(): boolean {
  return false;
}
