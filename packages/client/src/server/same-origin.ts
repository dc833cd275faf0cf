import { Refusal } from './refusal.ts';

/**
 * Throws unless a page of this origin sent the request. No page can set or omit these headers. `Sec-Fetch-Site` is the
 * browser's own verdict. Browsers send it to https and localhost only, and `Origin` with every POST. The scheme is not
 * compared, because a proxy that ends TLS changes it.
 */
export function refuseCrossSite(request: Request): void {
  const site = request.headers.get('sec-fetch-site');
  const isOwn = site === null ? isOwnOrigin(request) : site === 'same-origin';
  if (!isOwn) throw new Refusal(403, 'cross_site', 'Only a page of this origin may do this.');
  // A form cannot send JSON, and a page of another origin cannot without a preflight, which is never answered.
  const contentType = request.headers.get('content-type') ?? '';
  if (!/^application\/json(?:[ \t]*;|[ \t]*$)/i.test(contentType)) {
    throw new Refusal(415, 'json_required', 'Send the body as application/json.');
  }
}

function isOwnOrigin(request: Request): boolean {
  const origin = request.headers.get('origin') ?? '';
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  return new URL(origin).host === new URL(request.url).host;
}
