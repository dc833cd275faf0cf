import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { destroyAnswer } from '../http/break-off.ts';
import type { ClientRequest } from '../http/client-request.ts';
import type { HeldBytes } from '../memory/held-bytes.ts';
import {
  announceOnLast,
  headLength,
  ignore,
  MAX_WAITING_BEFORE_PAUSE,
  MAX_WAITING_REQUESTS,
  newConnection,
  type Connection,
  type Exchange,
} from './connection.ts';
import { IdleConnections } from './idle-connections.ts';
import { addBytes, type NetworkBytes } from './network-bytes.ts';
import { asksForUpgrade, endsInDoubt } from './request-body.ts';

/** How many requests of one connection are processed at once, although they are answered one after the other. */
const MAX_STARTED_REQUESTS = 8;
/** The memory of a parsed request and its response, besides the text of its head. */
const WAITING_REQUEST_BYTES = 4_096;

/**
 * The connections of the public port and the requests in progress on each. Only a few pipelined requests (RFC 9112
 * §9.3.2) of a connection are processed at once, because the gateway would have to hold the responses to all of
 * them. Node's own `closeIdleConnections` and `close` skip connections that never sent a request (seen on Node 24).
 */
export class Connections {
  /** Connections closed because too many requests waited on them, or because there was no memory for another one. */
  overfullCount = 0;
  shedCount = 0;
  /** Idle connections that were closed because another client needed their place. */
  displacedCount = 0;
  /** The number of connections ever opened. */
  accepted = 0;
  private readonly idle = new IdleConnections();
  private readonly held: HeldBytes;
  private readonly open = new Map<Socket, Connection>();
  /** The bytes of connections that are closed. */
  private readonly closedBytes: NetworkBytes = { received: 0, sent: 0 };
  private announces = false;
  private closesIdle = false;

  constructor(server: Server, held: HeldBytes) {
    this.held = held;
    server.on('connection', (socket: Socket) => {
      const connection = newConnection(socket);
      this.accepted++;
      this.open.set(socket, connection);
      this.idle.addUnused(connection);
      socket.once('close', () => this.onClosed(connection));
    });
  }

  /** The number of open connections. */
  get count(): number {
    return this.open.size;
  }

  /** The number of waiting requests on the connection that has most of them. It checks every open connection. */
  get mostWaitingOfOne(): number {
    let most = 0;
    for (const { waiting } of this.open.values()) if (waiting.length > most) most = waiting.length;
    return most;
  }

  /** Every open connection. */
  all(): Iterable<Connection> {
    return this.open.values();
  }

  /** All bytes so far, heads included. It checks every open connection. */
  bytes(): NetworkBytes {
    const total = { ...this.closedBytes };
    for (const socket of this.open.keys()) addBytes(total, socket);
    return total;
  }

  /** Passes each request on when few enough earlier ones are in progress on its connection. */
  inTurn(listener: (request: ClientRequest, response: ServerResponse) => void): RequestListener {
    return (request, response) =>
      this.take(request, response, () => listener(request as ClientRequest, response));
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

  /** Drops the waiting requests of a connection, for which nothing was done yet. Returns their number. */
  dropWaiting(socket: Socket): number {
    const connection = this.open.get(socket);
    if (!connection) return 0;
    const { exchanges, waiting } = connection;
    exchanges.splice(exchanges.length - waiting.length);
    const dropped = waiting.splice(0);
    for (const { heldBytes } of dropped) this.held.release('waiting', heldBytes);
    return dropped.length;
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
      if (connection.isUsed) this.closeIfIdle(connection);
    }
  }

  /** Closes every idle connection that never sent a request. */
  closeUnused(): void {
    for (const connection of this.open.values()) this.closeIfIdle(connection);
  }

  /**
   * Closes the connection that has been idle for longest, so that those who sit do not keep out those who work.
   *
   * @returns whether there was one
   */
  closeLongestIdle(): boolean {
    for (;;) {
      const connection = this.idle.takeLongest();
      if (!connection) return false;
      if (this.closeIfIdle(connection)) {
        this.displacedCount++;
        return true;
      }
    }
  }

  /** Breaks off everything that is still open. */
  destroyAll(): void {
    for (const socket of this.open.keys()) socket.destroy();
  }

  private take(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    const { socket } = request;
    const connection = this.open.get(socket);
    if (!connection) return;
    if (socket.writableEnded) {
      // The client already has a last response on this connection.
      socket.destroy();
      return;
    }
    if (connection.takesNoMore) {
      ignore(connection);
      return;
    }
    if (connection.exchanges.length === 0) this.idle.delete(connection);
    connection.isUsed = true;
    connection.exchanges.push({ request, response });
    if (endsInDoubt(request) || asksForUpgrade(request)) {
      // Nobody knows where the next request begins. Node closes the connection after this response and begins no other one.
      response.shouldKeepAlive = false;
      connection.takesNoMore = true;
    }
    if (this.announces) announceOnLast(connection.exchanges);
    response.on('close', () => this.onAnswered(connection, response));
    if (connection.exchanges.length <= MAX_STARTED_REQUESTS) start();
    else this.wait(request, connection, start);
  }

  private wait(request: IncomingMessage, { waiting }: Connection, start: () => void): void {
    const heldBytes = WAITING_REQUEST_BYTES + headLength(request);
    const isFull = waiting.length >= MAX_WAITING_REQUESTS;
    if (isFull || !this.held.tryTake('waiting', heldBytes)) {
      // Requests that were read together with it also arrive here.
      if (request.socket.destroyed) return;
      if (isFull) this.overfullCount++;
      else this.shedCount++;
      request.socket.destroy();
      return;
    }
    waiting.push({ start, heldBytes });
    // Reading continues for a few requests, because Node does not notice a disconnect on a connection that it does
    // not read.
    if (waiting.length > MAX_WAITING_BEFORE_PAUSE) request.socket.pause();
  }

  private onAnswered(connection: Connection, response: ServerResponse): void {
    const { socket, exchanges, waiting } = connection;
    const at = exchanges.findIndex((exchange) => exchange.response === response);
    // A waiting request that was dropped.
    if (at === -1) return;
    exchanges.splice(at, 1);
    connection.bytesRead = socket.bytesRead;
    const isBrokenBeforeItsTurn = at > 0 && !response.writableFinished;
    // Node first gives the next response its socket, unless the connection ends with this one.
    const isLast = exchanges[0] !== undefined && !exchanges[0].response.socket;
    if (isBrokenBeforeItsTurn) connection.takesNoMore = true;
    if (isBrokenBeforeItsTurn || isLast) this.dropWaiting(socket);
    const next = waiting.shift();
    if (next) {
      this.held.release('waiting', next.heldBytes);
      if (waiting.length === 0 && socket.isPaused()) socket.resume();
      next.start();
    }
    if (exchanges.length === 0) {
      if (this.open.has(socket)) this.idle.addAnswered(connection);
      connection.onAnswered?.();
    }
    if (this.closesIdle) this.closeIfIdle(connection);
  }

  private onClosed(connection: Connection): void {
    const { socket, exchanges } = connection;
    this.dropWaiting(socket);
    // Node emits `close` for waiting responses, but not on a connection that it has passed on for a CONNECT.
    for (const { response } of exchanges) destroyAnswer(response);
    this.open.delete(socket);
    this.idle.delete(connection);
    addBytes(this.closedBytes, socket);
  }

  /** A request whose head is still arriving is accepted, or its client would see a broken connection. */
  private closeIfIdle({ socket, exchanges, bytesRead }: Connection): boolean {
    if (exchanges.length > 0 || socket.bytesRead > bytesRead) return false;
    socket.end(() => socket.destroy());
    return true;
  }
}
