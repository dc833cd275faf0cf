import type { IncomingHttpHeaders } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import { familyOf, ipAddress } from './ip-nets.ts';

/** How many proxies one behind the other are looked at. A client can write as many entries as it wants. */
const MAX_PROXIES = 16;
/** `192.0.2.1:4711`, `[2001:db8::1]` and `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\w+|\[([^\]]*)\](?::\w+)?)$/;
/** The `for` of an element of `Forwarded` (RFC 7239 §4). */
const FOR = /(?:^|;)[ \t]*for[ \t]*=[ \t]*(?:"([^"\\]*)"|([^";\s]*))[ \t]*(?:;|$)/i;

/** Where a request comes from. */
export interface RequestOrigin {
  headers: IncomingHttpHeaders;
  socket: Pick<Socket, 'remoteAddress'>;
}

/**
 * The addresses of clients, for the log and the audit. Nothing else decides by them. Each proxy adds the address of its own
 * client at the right end of `X-Forwarded-For` or `Forwarded`, so what is left of the first address that is not a trusted
 * proxy's may be invented.
 */
export class ClientAddresses {
  private readonly trusted: BlockList | undefined;

  /** The addresses and nets of the proxies whose headers are believed. */
  constructor(trustedProxies?: BlockList) {
    this.trusted = trustedProxies;
  }

  /** Undefined if the connection is gone already. */
  of({ headers, socket }: RequestOrigin): string | undefined {
    const peer = addressOf(socket);
    if (peer === undefined || !this.isTrusted(peer)) return peer;
    const forwardedFor = headers['x-forwarded-for'];
    if (forwardedFor !== undefined) return this.client(peer, String(forwardedFor), entryAddress);
    if (headers.forwarded !== undefined) return this.client(peer, headers.forwarded, forAddress);
    return peer;
  }

  /** The first address from the right that is not trusted, or the last trusted one if what comes next is no address. */
  private client(peer: string, list: string, read: (entry: string) => string | undefined): string {
    let client = peer;
    for (const entry of list.split(',').slice(-MAX_PROXIES).reverse()) {
      const address = read(entry.trim());
      if (address === undefined) return client;
      client = address;
      if (!this.isTrusted(address)) return client;
    }
    return client;
  }

  private isTrusted(address: string): boolean {
    return this.trusted?.check(address, familyOf(address)) ?? false;
  }
}

/** The address at the other end of a connection. */
export function addressOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | undefined {
  return remoteAddress === undefined ? undefined : ipAddress(remoteAddress);
}

function entryAddress(entry: string): string | undefined {
  const [, v4, v6] = WITH_PORT.exec(entry) ?? [];
  return ipAddress(v4 ?? v6 ?? entry);
}

function forAddress(element: string): string | undefined {
  const [, quoted, token] = FOR.exec(element) ?? [];
  return entryAddress(quoted ?? token ?? '');
}
