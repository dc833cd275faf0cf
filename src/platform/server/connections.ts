import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { overloaded } from '../errors/gateway-error.ts';
import { destroyAnswer } from '../http/break-off.ts';
import type { ClientRequest } from '../http/client-request.ts';
import { Connection, type Exchange } from './connection.ts';
import { IdleConnections } from './idle-connections.ts';
import { asksForUpgrade, endsInDoubt } from './request-body.ts';

/** How many requests may be in progress on one connection, as for the streams of HTTP/2 (RFC 9113 §6.5.2). */
export const MAX_PIPELINED = 100;
/** How long a connection beyond the cap may take to send the request that is refused. */
const REFUSAL_TIMEOUT_MS = 5_000;
/** Beyond this multiple of the cap, connections are closed without a response. */
const DROP_FACTOR = 1.1;

/**
 * The connections of the public port and the requests in progress on each. A client may pipeline requests (RFC 9112 §9.3.2) up
 * to a limit, and what is held for their responses counts in `HeldBytes`. Node's own `closeIdleConnections` and `close` skip
 * connections that never sent a request (seen on Node 24).
 *
 * A connection beyond the cap takes the place of the one that has been idle for longest. If none is idle, its first request gets
 * 503 and it is closed. Far beyond the cap, connections are closed at once.
 */
export class Connections {
  readonly maxConnections: number;
  /** Connections closed because too many requests were in progress on them. */
  overfullCount = 0;
  /** Idle connections that were closed because another client needed their place. */
  displacedCount = 0;
  /** The number of connections ever opened. */
  accepted = 0;
  private readonly idle = new IdleConnections();
  private readonly open = new Map<Socket, Connection>();
  /** The bytes of connections that are closed. */
  private readonly closedBytes = { received: 0, sent: 0 };
  private announces = false;
  private closesIdle = false;

  constructor(server: Server, maxConnections: number) {
    this.maxConnections = maxConnections;
    server.maxConnections = Math.ceil(maxConnections * DROP_FACTOR);
    server.on('connection', (socket: Socket) => {
      const connection = new Connection(socket);
      this.accepted++;
      this.open.set(socket, connection);
      this.idle.addUnused(connection);
      socket.once('close', () => this.onClosed(connection));
      if (this.open.size <= maxConnections || this.closeLongestIdle()) return;
      connection.isRefused = true;
      socket.setTimeout(REFUSAL_TIMEOUT_MS, () => socket.destroy());
    });
  }

  /** The number of open connections. */
  get count(): number {
    return this.open.size;
  }

  /** Every open connection. */
  all(): Iterable<Connection> {
    return this.open.values();
  }

  /** All bytes from and to clients so far, heads included. It checks every open connection. */
  bytes(): { received: number; sent: number } {
    const total = { ...this.closedBytes };
    for (const socket of this.open.keys()) addBytes(total, socket);
    return total;
  }

  /** Passes each request on, if its connection takes it. */
  inTurn(listener: (request: ClientRequest, response: ServerResponse) => void): RequestListener {
    return (request, response) => {
      if (this.takes(request, response)) listener(request as ClientRequest, response);
    };
  }

  /** Throws `overloaded` for a request on a connection beyond the cap. */
  checkPlace(socket: Socket, response: ServerResponse): void {
    if (!this.open.get(socket)?.isRefused) return;
    response.setHeader('Connection', 'close');
    throw overloaded('connections', 'The gateway has too many connections open');
  }

  /** Whether the last request of a connection is complete and in progress, so that nothing after it matters. */
  hasItsLast(socket: Socket): boolean {
    const connection = this.open.get(socket);
    return (
      connection?.takesNoMore === true && connection.exchanges.at(-1)?.request.complete === true
    );
  }

  /** The requests in progress on a connection, in their order. */
  exchanges(socket: Socket): readonly Exchange[] {
    return this.open.get(socket)?.exchanges ?? [];
  }

  /** Calls back when everything on a connection is answered. The connection accepts no further request. */
  whenAnswered(socket: Socket, onAnswered: () => void): void {
    const connection = this.open.get(socket);
    if (!connection) return;
    connection.onAnswered = onAnswered;
    connection.takesNoMore = true;
    if (connection.exchanges.length === 0) onAnswered();
  }

  /** Announces the end of the connection in every response that has not begun, now and from now on. */
  announceClose(): void {
    this.announces = true;
    for (const { exchanges } of this.open.values()) announceOnLast(exchanges);
  }

  /**
   * Closes every idle connection, now and as soon as another one becomes idle. `closeUnused` closes those that never sent a
   * request: their first one may be under way, and a client does not expect to lose it.
   */
  closeIdle(): void {
    this.closesIdle = true;
    for (const connection of this.open.values()) {
      if (connection.isUsed) closeIfIdle(connection);
    }
  }

  /** Closes every idle connection that never sent a request. */
  closeUnused(): void {
    for (const connection of this.open.values()) closeIfIdle(connection);
  }

  /** Breaks off everything that is still open. */
  destroyAll(): void {
    for (const socket of this.open.keys()) socket.destroy();
  }

  /** Closes the connection that has been idle for longest, so that those who sit do not keep out those who work. */
  private closeLongestIdle(): boolean {
    for (;;) {
      const connection = this.idle.takeLongest();
      if (!connection) return false;
      if (closeIfIdle(connection)) {
        this.displacedCount++;
        return true;
      }
    }
  }

  private takes(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    const connection = this.open.get(socket);
    // Requests that were read together with the last one also arrive here.
    if (!connection || socket.destroyed) return false;
    if (socket.writableEnded) {
      // The client already has a last response on this connection.
      socket.destroy();
      return false;
    }
    const { exchanges } = connection;
    if (exchanges.length + connection.ignored >= MAX_PIPELINED) {
      this.overfullCount++;
      socket.destroy();
      return false;
    }
    if (connection.takesNoMore) {
      connection.ignored++;
      return false;
    }
    if (exchanges.length === 0) this.idle.delete(connection);
    connection.isUsed = true;
    exchanges.push({ request, response });
    if (endsInDoubt(request) || asksForUpgrade(request)) {
      // Nobody knows where the next request begins. Node closes the connection after this response and begins no other one.
      response.shouldKeepAlive = false;
      connection.takesNoMore = true;
    }
    if (this.announces) announceOnLast(exchanges);
    response.on('close', () => this.onAnswered(connection, response));
    return true;
  }

  private onAnswered(connection: Connection, response: ServerResponse): void {
    const { socket, exchanges } = connection;
    const at = exchanges.findIndex((exchange) => exchange.response === response);
    if (at === -1) return;
    exchanges.splice(at, 1);
    connection.bytesRead = socket.bytesRead;
    // It was broken off before its turn.
    if (at > 0 && !response.writableFinished) connection.takesNoMore = true;
    if (exchanges.length === 0) {
      if (this.open.has(socket)) this.idle.addAnswered(connection);
      connection.onAnswered?.();
    }
    if (this.closesIdle) closeIfIdle(connection);
  }

  private onClosed(connection: Connection): void {
    const { socket, exchanges } = connection;
    // Node emits `close` for waiting responses, but not on a connection that it has passed on for a CONNECT.
    for (const { response } of exchanges) destroyAnswer(response);
    this.open.delete(socket);
    this.idle.delete(connection);
    addBytes(this.closedBytes, socket);
  }
}

/** A request whose head is still arriving is accepted, or its client would see a broken connection. */
function closeIfIdle({ socket, exchanges, bytesRead }: Connection): boolean {
  if (exchanges.length > 0 || socket.bytesRead > bytesRead) return false;
  socket.end(() => socket.destroy());
  return true;
}

/** Node closes a connection after the first response that says so, and drops all later responses. */
function announceOnLast(exchanges: readonly Exchange[]): void {
  const last = exchanges.at(-1);
  for (const exchange of exchanges) {
    if (!exchange.response.headersSent) {
      exchange.response.setHeader('Connection', exchange === last ? 'close' : 'keep-alive');
    }
  }
}

function addBytes(
  total: { received: number; sent: number },
  { bytesRead, bytesWritten }: Socket,
): void {
  total.received += bytesRead;
  // Node reports undefined for a socket that was destroyed before it was set up.
  total.sent += bytesWritten || 0;
}
