import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TimedItem, TimedPlace } from '../collections/timed-list.ts';

/** A request and its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** A connection, and the requests in progress on it. */
export class Connection implements TimedItem<Connection> {
  readonly socket: Socket;
  timedPlace: TimedPlace<Connection> | undefined;
  /** The requests in order. */
  readonly exchanges: Exchange[] = [];
  /** Whether it has had a request. */
  isUsed = false;
  /** Whether it is beyond the cap, so that its first request is refused. */
  isRefused = false;
  /** How many bytes had arrived when its last response ended. Any further bytes begin the next request. */
  bytesRead = 0;
  /** Called when everything on it is answered. */
  onAnswered: (() => void) | undefined;
  /** Whether further requests are ignored, because the connection ends before their turn. */
  takesNoMore = false;
  /** The number of ignored requests. Node keeps them until the connection ends. */
  ignored = 0;
  /** For `StalledClients`: the bytes that its client had read at the last check, estimated from below. */
  takenBytes = 0;
  /** Since when its client has read nothing although something waits for it. 0 if nothing waits. */
  waitsSinceMs = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }
}
