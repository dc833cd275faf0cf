import type { Socket } from 'node:net';

/** A client that has just connected may still send its first request. */
const FIRST_REQUEST_MS = 1_000;

/** The idle connections of a server, each kind in the order in which they became idle. */
export class IdleConnections {
  private readonly unused = new Map<Socket, number>();
  private readonly answered = new Map<Socket, number>();
  private readonly nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
  }

  /** A client has connected, and has sent nothing yet. */
  addUnused(socket: Socket): void {
    this.unused.set(socket, this.nowMs());
  }

  /** Every request of the connection is answered. */
  addAnswered(socket: Socket): void {
    this.answered.set(socket, this.nowMs());
  }

  /** The connection has a request, or is closed. */
  delete(socket: Socket): void {
    if (!this.answered.delete(socket)) this.unused.delete(socket);
  }

  /** Removes and returns the connection that has been idle for longest. Undefined if none is. */
  takeLongest(): Socket | undefined {
    const [answered, answeredAtMs = Number.POSITIVE_INFINITY] = first(this.answered);
    const [unused, unusedAtMs = Number.POSITIVE_INFINITY] = first(this.unused);
    const isOld = this.nowMs() - unusedAtMs >= FIRST_REQUEST_MS;
    const longest = isOld && unusedAtMs < answeredAtMs ? unused : answered;
    if (longest) this.delete(longest);
    return longest;
  }
}

function first(sockets: ReadonlyMap<Socket, number>): [Socket?, number?] {
  for (const entry of sockets) return entry;
  return [];
}
