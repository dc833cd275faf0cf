import type { IncomingMessage } from 'node:http';
import { Refusal } from './answers.ts';

/**
 * Whether the request was meant for the console. A page elsewhere can let its own name point to
 * 127.0.0.1 (DNS rebinding); to the browser it then has our origin, but the `Host` is its name.
 */
export function isOwnHost(request: IncomingMessage): boolean {
  return ownHosts(request).includes(request.headers.host ?? '');
}

/**
 * Throws unless our own page sends the request. Every browser says in `Origin` who posts, and a
 * form cannot post JSON, so that a page elsewhere can neither pretend nor avoid to say.
 */
export function refuseForeignRequest(request: IncomingMessage): void {
  const { origin, 'sec-fetch-site': site, 'content-type': contentType = '' } = request.headers;
  const ownOrigins = ownHosts(request).map((host) => `http://${host}`);
  if (origin === undefined || !ownOrigins.includes(origin)) throw crossSite();
  // Where a browser sends it, it is the browser's own judgement.
  if (site !== undefined && site !== 'same-origin') throw crossSite();
  if (!/^application\/json(?: *;|$)/i.test(contentType)) {
    throw new Refusal(415, 'json_required', 'Send the body as application/json.');
  }
}

function ownHosts(request: IncomingMessage): string[] {
  const { localPort } = request.socket;
  return ['127.0.0.1', 'localhost'].map((name) => `${name}:${localPort}`);
}

function crossSite(): Refusal {
  return new Refusal(403, 'cross_site', 'Only the page of this console may do this.');
}
