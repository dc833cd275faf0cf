/** The methods that the conventions know; any other is `_OTHER`, so that names stay few. */
const KNOWN = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
]);

/** `http.request.method` of a method as it was sent. */
export function knownMethod(method: string): string {
  return KNOWN.has(method) ? method : '_OTHER';
}

/** What a span's name begins with. */
export function methodInName(method: string): string {
  return KNOWN.has(method) ? method : 'HTTP';
}
