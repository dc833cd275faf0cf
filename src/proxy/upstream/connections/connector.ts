import { connect as connectPlain, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { tcpAddress } from '../tcp-address.ts';
import { lookupOf } from '../../../platform/names/name-resolver.ts';
import type { Addresses } from './addresses.ts';

/**
 * How long a connection is silent before TCP checks whether the other end is still there. Node then checks each second, and
 * gives up after ten checks, so that a parked read learns within half a minute that its server has vanished.
 */
const TCP_KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Opens a socket that passes what it reads to `onread`. `onOpen` is called when it can be written to. It tries the
 * address `besides` last.
 */
export type Connector = (onread: OnReadOpts, onOpen: () => void, besides?: string) => Socket;

/** Connects to the host of a URL, with TLS for `https:`. Several addresses are tried in turn. */
export function connectorTo(url: URL, addresses: Addresses): Connector {
  const connect = url.protocol === 'https:' ? tlsConnector(url) : plainConnector(url);
  return (onread, onOpen, besides) => {
    const lookup = lookupOf(() => addresses.inOrder(besides));
    const socket = connect({ lookup, onread }, onOpen);
    const avoid = (address: string): void => addresses.avoid(address);
    socket.on('connectionAttemptTimeout', avoid).on('connectionAttemptFailed', avoid);
    return socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_DELAY_MS);
  };
}

interface SocketOptions {
  lookup: ReturnType<typeof lookupOf>;
  onread: OnReadOpts;
}

function plainConnector(url: URL) {
  const address = tcpAddress(url);
  return (options: SocketOptions, onOpen: () => void): Socket =>
    connectPlain({ ...address, ...options }, onOpen);
}

function tlsConnector(url: URL) {
  const { host, port } = tcpAddress(url);
  // An IP address is not a valid server name (RFC 6066 §3).
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const address = { host, port, ...servername, ALPNProtocols: ['http/1.1'] };
  // The next connection resumes this TLS session, which saves a round trip and a signature.
  let session: Buffer | undefined;
  return (options: SocketOptions, onOpen: () => void): Socket => {
    // Node accepts `onread` here too, but its types lack it.
    const all: ConnectionOptions & SocketOptions = { ...address, session, ...options };
    const socket = connectTls(all, onOpen);
    socket.on('session', (ticket) => {
      session = ticket;
    });
    return socket;
  };
}
