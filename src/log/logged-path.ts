const MAX_LENGTH = 512;
/** A read token or another JWT. Its first part is a JSON object in base64url. */
const TOKEN = /eyJ[\w-]{8,}(?:\.[\w-]*){1,4}/g;

/**
 * A request path for logs and spans, without anything that may hold a credential: a fragment, a target that is not
 * a path (`http://user:password@host/`), and text that looks like a token. A long path is cut.
 */
export function loggedPath(path: string): string {
  if (!path.startsWith('/')) return '(no path)';
  const withoutFragment = path.slice(0, MAX_LENGTH).replace(/#.*$/s, '');
  return withoutFragment.includes('eyJ')
    ? withoutFragment.replace(TOKEN, '(token)')
    : withoutFragment;
}
