const MAX_LENGTH = 512;

/**
 * A request path as logs and spans have it: without what may hold a credential, which is a fragment and
 * all of a target that is no path (`http://user:password@host/`), and cut, so that a long one cannot
 * flood them.
 */
export function loggedPath(path: string): string {
  return path.startsWith('/') ? path.slice(0, MAX_LENGTH).replace(/#.*$/s, '') : '(no path)';
}
