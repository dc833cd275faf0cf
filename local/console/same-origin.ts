import type { IncomingMessage } from 'node:http';
import { Refusal } from './answers.ts';

/**
 * Whether the request was meant for the console. With DNS rebinding, another site's name points to 127.0.0.1: the
 * browser then treats it as our origin, but the `Host` is that name.
 */
export function isOwnHost(request: IncomingMessage): boolean {
  return ownHosts(request).includes(request.headers.host ?? '');
}

/**
 * Throws unless our own page sent the request. Every browser puts the origin of a POST into `Origin`, and a form
 * cannot post JSON, so that another site can neither fake nor omit it.
 */
export function refuseForeignRequest(request: IncomingMessage): void {
  const { 'sec-fetch-site': site, 'content-type': contentType = '' } = request.headers;
  refuseForeignOrigin(request);
  // If a browser sends this header, it is the browser's own verdict.
  if (site !== undefined && site !== 'same-origin') throw crossSite();
  const hasBody = request.method === 'POST';
  if (hasBody && !/^application\/json(?: *;|$)/i.test(contentType)) {
    throw new Refusal(415, 'json_required', 'Send the body as application/json.');
  }
}

/**
 * Throws unless our own page sent the read. Browsers put no `Origin` into a GET of the same origin, but every one of today says
 * in `Sec-Fetch-Site` where a request comes from, and no page can change that.
 */
export function refuseForeignRead(request: IncomingMessage): void {
  if (request.headers['sec-fetch-site'] !== 'same-origin') throw crossSite();
}

/** The origin of the request. Throws unless it is our own page's. Browsers put it into each request to another origin. */
export function refuseForeignOrigin(request: IncomingMessage): string {
  const { origin } = request.headers;
  const ownOrigins = ownHosts(request).map((host) => `http://${host}`);
  if (origin === undefined || !ownOrigins.includes(origin)) throw crossSite();
  return origin;
}

function ownHosts(request: IncomingMessage): string[] {
  const { localPort } = request.socket;
  return ['127.0.0.1', 'localhost'].map((name) => `${name}:${localPort}`);
}

function crossSite(): Refusal {
  return new Refusal(403, 'cross_site', 'Only the page of this console may do this.');
}
