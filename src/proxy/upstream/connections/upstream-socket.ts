import {
  connect as connectPlain,
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
} from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { tcpAddress } from '../../../platform/http/tcp-address.ts';

/** How long a connection is silent before TCP checks whether the other end is still there. */
const TCP_KEEP_ALIVE_DELAY_MS = 60_000;

/** Opens a socket that passes what it reads to `onread`. `onOpen` is called when it can be written to. */
export type Connector = (onread: OnReadOpts, onOpen: () => void) => Socket;

/** Connects to the host of a URL, with TLS for `https:`. Several addresses are tried in turn. */
export function connectorTo(url: URL, lookup: LookupFunction): Connector {
  const connect =
    url.protocol === 'https:' ? tlsConnector(url, lookup) : plainConnector(url, lookup);
  return (onread, onOpen) =>
    connect(onread, onOpen).setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_DELAY_MS);
}

function plainConnector(url: URL, lookup: LookupFunction): Connector {
  const address = { ...tcpAddress(url), lookup };
  return (onread, onOpen) => connectPlain({ ...address, onread }, onOpen);
}

function tlsConnector(url: URL, lookup: LookupFunction): Connector {
  const { host, port } = tcpAddress(url);
  // An IP address is not a valid server name (RFC 6066 §3).
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const address = { host, port, lookup, ...servername, ALPNProtocols: ['http/1.1'] };
  // The next connection resumes this TLS session, which saves a round trip and a signature.
  let session: Buffer | undefined;
  return (onread, onOpen) => {
    // Node accepts `onread` here too, but its types lack it.
    const options: ConnectionOptions & { onread: OnReadOpts } = { ...address, session, onread };
    const socket = connectTls(options, onOpen);
    socket.on('session', (ticket) => {
      session = ticket;
    });
    return socket;
  };
}
