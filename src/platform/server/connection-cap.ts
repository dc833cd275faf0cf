import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { overloaded } from '../errors/gateway-error.ts';

/** How long a connection beyond the cap may take to send the request that is refused. */
const REFUSAL_TIMEOUT_MS = 5_000;
/** Beyond this multiple of the cap, connections are closed without a response. */
const DROP_FACTOR = 1.1;

/**
 * Caps the connections of a server. A connection beyond the cap takes the place of the one that has been idle for longest.
 * If none is idle, its first request gets 503 and it is closed. Far beyond the cap, connections are closed at once.
 */
export class ConnectionCap {
  readonly maxConnections: number;
  private readonly refused = new WeakSet<Socket>();

  /** `connections` observes the same server and counts a new connection before this class does. */
  constructor(
    server: Server,
    connections: Pick<Connections, 'count' | 'closeLongestIdle'>,
    maxConnections: number,
  ) {
    this.maxConnections = maxConnections;
    server.maxConnections = Math.ceil(maxConnections * DROP_FACTOR);
    server.on('connection', (socket: Socket) => {
      if (connections.count <= maxConnections || connections.closeLongestIdle()) return;
      this.refused.add(socket);
      socket.setTimeout(REFUSAL_TIMEOUT_MS, () => socket.destroy());
    });
  }

  /** Throws `overloaded` for a request on a connection beyond the cap. */
  check(socket: Socket, response: ServerResponse): void {
    if (!this.refused.has(socket)) return;
    response.setHeader('Connection', 'close');
    throw overloaded('connections', 'The gateway has too many connections open');
  }
}
