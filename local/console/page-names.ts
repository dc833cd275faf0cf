import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])$/;
const PAGE_NAME = /^p-[0-9a-f]{8}\.localhost$/;

/**
 * A URL of the same server under a name that no other page has, such as `http://p-1f2e3d4c.localhost:8787`. A browser has six
 * connections per name over HTTP/1.1 and its pages share them, so that under one name a seventh page stays blank: each
 * page reads live all the time. Undefined for a server that is elsewhere, or has TLS, and with it HTTP/2 as a rule.
 */
export function pageUrlOf(url: string): string | undefined {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== 'http:' || !LOOPBACK.test(hostname)) return undefined;
  const name = `p-${randomBytes(4).toString('hex')}.localhost`;
  return `http://${name}${port && `:${port}`}${pathname.replace(/\/+$/, '')}`;
}

/** The names of `pageUrlOf` as a source of a content security policy. */
export function pageNamesSource(url: string): string | undefined {
  const pageUrl = pageUrlOf(url);
  return pageUrl && new URL(pageUrl).origin.replace(/\/\/p-[0-9a-f]+\./, '//*.');
}

/** Whether the request came under such a name. No other site can have one: every browser takes them for this machine. */
export function hasPageName(request: IncomingMessage): boolean {
  const [name = '', port] = (request.headers.host ?? '').split(':');
  return PAGE_NAME.test(name) && port === String(request.socket.localPort);
}
