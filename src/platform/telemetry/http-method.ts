/** The methods that the semantic conventions know. Any other becomes `_OTHER`, so that their number is bounded. */
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

/** The beginning of a span's name. */
export function methodInName(method: string): string {
  return KNOWN.has(method) ? method : 'HTTP';
}
