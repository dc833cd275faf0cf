const MAX_LENGTH = 512;
/** A read token, or what else is a JWT: its first part is a JSON object in base64url. */
const TOKEN = /eyJ[\w-]{8,}(?:\.[\w-]*){1,4}/g;

/**
 * A request path as logs and spans have it: without what may hold a credential, which is a fragment, all
 * of a target that is no path (`http://user:password@host/`) and what looks like a token; and cut, so
 * that a long one cannot flood them.
 */
export function loggedPath(path: string): string {
  if (!path.startsWith('/')) return '(no path)';
  const withoutFragment = path.slice(0, MAX_LENGTH).replace(/#.*$/s, '');
  return withoutFragment.includes('eyJ')
    ? withoutFragment.replace(TOKEN, '(token)')
    : withoutFragment;
}
