import { decodeLeniently } from '../http/request-path.ts';

/** Whether a text is a credential of this deployment, such as an API key. */
type CredentialCheck = (text: string) => boolean;

/** Of a path in a log, in characters. */
const MAX_LOGGED_LENGTH = 512;
/** No server decodes a path more often. */
const MAX_LAYERS = 3;
/** How far an API key reaches that begins within the length, with each character encoded as often (`%252541`). */
const MAX_LOOK_LENGTH = MAX_LOGGED_LENGTH + (1 + 2 * MAX_LAYERS) * 256;
/** A read token or another JWT, or the beginning of one. Its first part is a JSON object in base64url. */
const TOKEN = /eyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g;
/** What can be an API key within a segment of a path, and apart from it the `=` at its end. */
const POSSIBLE_KEY = /([\w.~+-]{14,256})=*/g;
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
  const cleaned = path.replace(POSSIBLE_KEY, (text, unpadded: string) =>
    isKey(text) || (text !== unpadded && isKey(unpadded)) ? '(key)' : text,
  );
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

function never(): boolean {
  return false;
}
