import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TimedItem } from '../collections/timed-list.ts';

/** How many requests may wait on one connection for earlier ones. A connection with more is closed. */
export const MAX_WAITING_REQUESTS = 1_000;
/** With more requests than this, the gateway stops reading from the connection for now. */
export const MAX_WAITING_BEFORE_PAUSE = 16;
/** A request that the client pipelined after others on the same connection. */
interface WaitingRequest {
  start: () => void;
  heldBytes: number;
}

/** A connection, and the requests in progress on it. */
export interface Connection extends TimedItem<Connection> {
  readonly socket: Socket;
  /** The requests in order. The last ones may still wait. */
  readonly exchanges: { request: IncomingMessage; response: ServerResponse }[];
  readonly waiting: WaitingRequest[];
  /** Whether it has had a request. */
  isUsed: boolean;
  /** How many bytes had arrived when its last response ended. Any further bytes begin the next request. */
  bytesRead: number;
  /** Called when everything on it is answered. */
  onAnswered: (() => void) | undefined;
  /** Whether further requests are ignored, because the connection ends before their turn. */
  takesNoMore: boolean;
  /** The number of ignored requests. */
  ignored: number;
  /** For `StalledClients`: the bytes that its client had read at the last check, estimated from below. */
  takenBytes: number;
  /** Since when its client has read nothing although something waits for it. 0 if nothing waits. */
  waitsSinceMs: number;
}

/** A request and its response. */
export type Exchange = Connection['exchanges'][number];

export function newConnection(socket: Socket): Connection {
  return {
    socket,
    timedPlace: undefined,
    exchanges: [],
    waiting: [],
    isUsed: false,
    bytesRead: 0,
    onAnswered: undefined,
    takesNoMore: false,
    ignored: 0,
    takenBytes: 0,
    waitsSinceMs: 0,
  };
}

/** Node keeps parsed requests until the connection ends, answered or not. */
export function ignore(connection: Connection): void {
  const { socket } = connection;
  connection.ignored++;
  if (connection.ignored > MAX_WAITING_REQUESTS) socket.destroy();
  else if (connection.ignored > MAX_WAITING_BEFORE_PAUSE) socket.pause();
}

/** Node closes a connection after the first response that says so, and drops all later responses. */
export function announceOnLast(exchanges: Connection['exchanges']): void {
  const last = exchanges.at(-1);
  for (const exchange of exchanges) {
    if (!exchange.response.headersSent) {
      exchange.response.setHeader('Connection', exchange === last ? 'close' : 'keep-alive');
    }
  }
}

export function headLength({ url = '', rawHeaders }: IncomingMessage): number {
  let length = url.length;
  for (const text of rawHeaders) length += text.length;
  return length;
}
