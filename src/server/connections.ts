import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { destroyAnswer } from '../http/break-off.ts';
import type { ClientRequest } from '../http/client-request.ts';
import type { HeldBytes } from '../memory/held-bytes.ts';
import { endsInDoubt } from './request-body.ts';

/** Requests of one connection that are worked on at once, although they are answered one after the other. */
const MAX_STARTED_REQUESTS = 8;
/** Requests that may wait on one connection for those before them; a connection with more is closed. */
export const MAX_WAITING_REQUESTS = 1_000;
/** With more than this nothing further is read from the connection for now. */
const MAX_WAITING_BEFORE_PAUSE = 16;
/** What a parsed request with its response takes in memory, beside the text of its head. */
const WAITING_REQUEST_BYTES = 4_096;

/** A request that the client pipelined after others on the same connection. */
interface WaitingRequest {
  start: () => void;
  heldBytes: number;
}

/** How a client takes what is sent to it; see `StalledClients`. */
export interface ClientProgress {
  /** The bytes that it has taken when it was looked at last, by an estimate from below. */
  takenBytes: number;
  /** Since when it has taken nothing although something waits for it; 0 where nothing does. */
  waitsSinceMs: number;
  /** What it had taken when memory was short and it was looked at, and whether it took nothing since then. */
  sampledBytes: number;
  sampledAtMs: number;
  isStill: boolean;
}

/** What is under way on a connection. */
interface Connection extends ClientProgress {
  /** In the order of their requests; the last ones may be those that wait. */
  readonly exchanges: { request: IncomingMessage; response: ServerResponse }[];
  readonly waiting: WaitingRequest[];
  /** What had come when its last answer ended; more than that is the beginning of the next request. */
  bytesRead: number;
  /** To be called once everything on it is answered. */
  onAnswered: (() => void) | undefined;
  /** What comes now is not answered: the connection ends before its turn. */
  takesNoMore: boolean;
  /** Requests that came all the same. */
  ignored: number;
}

/** What came from clients and what went to them. */
export interface NetworkBytes {
  received: number;
  sent: number;
}

/** A request and its response. */
export type Exchange = Connection['exchanges'][number];

/**
 * The connections of the public port and the requests in progress on each. Only a few pipelined requests (RFC 9112
 * §9.3.2) of a connection are worked on at once, because the gateway would have to hold the responses to all of
 * them.
 *
 * Node's own `closeIdleConnections` leaves those alone that never sent a request, and so does `close` (seen on
 * Node 24).
 */
export class Connections {
  /** Connections closed because too many requests waited on them, or because there was no memory for another one. */
  overfullCount = 0;
  shedCount = 0;
  private readonly held: HeldBytes;
  private readonly open = new Map<Socket, Connection>();
  private acceptedCount = 0;
  /** Of connections that are closed. */
  private readonly closedBytes: NetworkBytes = { received: 0, sent: 0 };
  private announces = false;
  private closesIdle = false;

  constructor(server: Server, held: HeldBytes) {
    this.held = held;
    server.on('connection', (socket: Socket) => {
      this.acceptedCount++;
      this.open.set(socket, {
        exchanges: [],
        waiting: [],
        bytesRead: 0,
        onAnswered: undefined,
        takesNoMore: false,
        ignored: 0,
        takenBytes: 0,
        waitsSinceMs: 0,
        sampledBytes: 0,
        sampledAtMs: 0,
        isStill: false,
      });
      socket.once('close', () => this.onClosed(socket));
    });
  }

  /** Connections open just now. */
  get count(): number {
    return this.open.size;
  }

  /** Connections that were ever opened. */
  get accepted(): number {
    return this.acceptedCount;
  }

  /** Requests that wait on the connection with the most of them; looks at every open connection. */
  get mostWaitingOfOne(): number {
    let most = 0;
    for (const { waiting } of this.open.values()) if (waiting.length > most) most = waiting.length;
    return most;
  }

  /** Every open connection with how its client takes what is sent. */
  progress(): Iterable<[Socket, ClientProgress]> {
    return this.open;
  }

  /** All bytes so far, heads included; looks at every open connection. */
  bytes(): NetworkBytes {
    const total = { ...this.closedBytes };
    for (const socket of this.open.keys()) addBytes(total, socket);
    return total;
  }

  /** Hands each request on when there are not too many before it on its connection. */
  inTurn(listener: (request: ClientRequest, response: ServerResponse) => void): RequestListener {
    return (request, response) =>
      this.take(request, response, () => listener(request as ClientRequest, response));
  }

  /** What is under way on a connection, in the order of the requests. */
  exchanges(socket: Socket): readonly Exchange[] {
    return this.open.get(socket)?.exchanges ?? [];
  }

  /** Drops the requests of a connection that wait: nothing was done for them. Returns how many there were. */
  dropWaiting(socket: Socket): number {
    const connection = this.open.get(socket);
    if (!connection) return 0;
    const { exchanges, waiting } = connection;
    exchanges.splice(exchanges.length - waiting.length);
    const dropped = waiting.splice(0);
    for (const { heldBytes } of dropped) this.held.release('waiting', heldBytes);
    return dropped.length;
  }

  /** Calls back when everything on a connection is answered, and takes no further request on it. */
  whenAnswered(socket: Socket, onAnswered: () => void): void {
    const connection = this.open.get(socket);
    if (!connection) return;
    connection.onAnswered = onAnswered;
    connection.takesNoMore = true;
    if (connection.exchanges.length === 0) onAnswered();
  }

  /** Tells every client whose answer has not begun, now and from now on, that its connection ends. */
  announceClose(): void {
    this.announces = true;
    for (const { exchanges } of this.open.values()) announceOnLast(exchanges);
  }

  /** Closes every connection with nothing under way, now and as soon as that is so. */
  closeIdle(): void {
    this.closesIdle = true;
    for (const [socket, connection] of this.open) this.closeIfIdle(socket, connection);
  }

  /** Breaks off whatever is still there. */
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
      ignore(socket, connection);
      return;
    }
    connection.exchanges.push({ request, response });
    if (endsInDoubt(request)) {
      // Node closes the connection after this response, and begins no other one until then.
      response.shouldKeepAlive = false;
      connection.takesNoMore = true;
    }
    if (this.announces) announceOnLast(connection.exchanges);
    response.on('close', () => this.onAnswered(socket, connection, response));
    if (connection.exchanges.length <= MAX_STARTED_REQUESTS) start();
    else this.wait(request, connection, start);
  }

  private wait(request: IncomingMessage, { waiting }: Connection, start: () => void): void {
    const heldBytes = WAITING_REQUEST_BYTES + headLength(request);
    const isFull = waiting.length >= MAX_WAITING_REQUESTS;
    if (isFull || !this.held.tryTake('waiting', heldBytes)) {
      // What was read along with it comes here too.
      if (!request.socket.destroyed) this.countEnded(isFull);
      request.socket.destroy();
      return;
    }
    waiting.push({ start, heldBytes });
    // Not for a few: a connection that is not read does not tell when its client has gone.
    if (waiting.length > MAX_WAITING_BEFORE_PAUSE) request.socket.pause();
  }

  private countEnded(isFull: boolean): void {
    if (isFull) this.overfullCount++;
    else this.shedCount++;
  }

  private onAnswered(socket: Socket, connection: Connection, response: ServerResponse): void {
    const { exchanges, waiting } = connection;
    const at = exchanges.findIndex((exchange) => exchange.response === response);
    // One that waited and was dropped.
    if (at === -1) return;
    exchanges.splice(at, 1);
    connection.bytesRead = socket.bytesRead;
    const isBrokenBeforeItsTurn = at > 0 && !response.writableFinished;
    // Node gives the next answer its socket first, unless the connection ends with this one.
    const isLast = exchanges[0] !== undefined && !exchanges[0].response.socket;
    if (isBrokenBeforeItsTurn) connection.takesNoMore = true;
    if (isBrokenBeforeItsTurn || isLast) this.dropWaiting(socket);
    const next = waiting.shift();
    if (next) {
      this.held.release('waiting', next.heldBytes);
      if (waiting.length === 0 && socket.isPaused()) socket.resume();
      next.start();
    }
    if (exchanges.length === 0) connection.onAnswered?.();
    if (this.closesIdle) this.closeIfIdle(socket, connection);
  }

  private onClosed(socket: Socket): void {
    this.dropWaiting(socket);
    // Node tells those whose turn has not come, but not on a connection that it has handed over for a CONNECT.
    for (const { response } of this.exchanges(socket)) destroyAnswer(response);
    this.open.delete(socket);
    addBytes(this.closedBytes, socket);
  }

  /** A request whose head is still coming is let come: its client would see it broken off. */
  private closeIfIdle(socket: Socket, { exchanges, bytesRead }: Connection): void {
    if (exchanges.length === 0 && socket.bytesRead <= bytesRead) {
      socket.end(() => socket.destroy());
    }
  }
}

/** Node keeps what it has parsed until the connection ends, whether it is answered or not. */
function ignore(socket: Socket, connection: Connection): void {
  connection.ignored++;
  if (connection.ignored > MAX_WAITING_REQUESTS) socket.destroy();
  else if (connection.ignored > MAX_WAITING_BEFORE_PAUSE) socket.pause();
}

/** Node closes a connection after the first response that says so, and drops all later responses. */
function announceOnLast(exchanges: Connection['exchanges']): void {
  const last = exchanges.at(-1);
  for (const exchange of exchanges) {
    if (!exchange.response.headersSent) {
      exchange.response.setHeader('Connection', exchange === last ? 'close' : 'keep-alive');
    }
  }
}

function headLength({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((length, text) => length + text.length, url.length);
}

function addBytes(total: NetworkBytes, { bytesRead, bytesWritten }: Socket): void {
  total.received += bytesRead;
  // Of a socket that was destroyed before it was set up Node gives undefined.
  total.sent += bytesWritten || 0;
}
