import { awakeMs } from '../../../platform/clock/awake-clock.ts';
import { ConnectionLine, type ConnectionTaker } from './connection-line.ts';
import { ReadConnection, type ConnectionTimeouts } from './read-connection.ts';
import type { Connector } from './upstream-socket.ts';

/**
 * The most connections that open at once. When an upstream or a gateway was restarted, thousands of readers return
 * together. More than the upstream's queue holds (511 for Node) would try again after 1, 3, 7, 15 and 31 seconds,
 * all at the same times, and overflow it again each time.
 */
export const MAX_OPENING_CONNECTIONS = 128;
/** The same limit for TLS. All handshakes finish at about the same time, and later the more there are. */
const MAX_OPENING_TLS_CONNECTIONS = 64;
/** While others open, a connection may take this many times longer, because it may wait in the server's accept queue. */
const PATIENCE_IN_A_CROWD = 4;
/** How often all connections are checked. */
const CHECK_INTERVAL_MS = 250;

/**
 * The connections to one upstream, each for one read at a time. The connection that was used last is taken first.
 * The pool keeps as many as were busy lately: it opens one only if all others are busy, and closes one that was
 * idle for a while. A fixed size would close and open thousands of connections with each event for as many waiting
 * readers.
 */
export class ReadPool {
  private readonly timeouts: ConnectionTimeouts;
  private readonly connect: Connector;
  private readonly nowMs: () => number;
  /** The idle connections. Those used last are at the end. Some may already be closed. */
  private idle: ReadConnection[] = [];
  private readonly all = new Set<ReadConnection>();
  private readonly maxOpening: number;
  private openingCount = 0;
  private readonly line: ConnectionLine;
  private readonly checkTimer = setInterval(() => this.checkConnections(), CHECK_INTERVAL_MS);

  /** `nowMs` is a clock that stops while the process is stopped. */
  constructor(
    origin: URL,
    timeouts: ConnectionTimeouts,
    connect: Connector,
    nowMs: () => number = awakeMs,
  ) {
    this.timeouts = timeouts;
    this.connect = connect;
    this.maxOpening =
      origin.protocol === 'https:' ? MAX_OPENING_TLS_CONNECTIONS : MAX_OPENING_CONNECTIONS;
    this.nowMs = nowMs;
    this.line = new ConnectionLine(timeouts.connectMs);
    this.checkTimer.unref();
  }

  /** Gives a read the connection that was used last, which is most likely still open, or another one. */
  take(read: ConnectionTaker): void {
    let kept = this.idle.pop();
    while (kept && !this.all.has(kept)) kept = this.idle.pop();
    if (kept && performance.now() < kept.usableUntilMs) {
      read.send(kept);
      return;
    }
    // The others have been idle for longer, so they are probably closed too.
    if (kept) this.drop(kept);
    this.takeFresh(read);
  }

  /**
   * Gives a read a new connection. While many are opening, it may also be one on which the upstream has just
   * answered.
   */
  takeFresh(read: ConnectionTaker): void {
    if (this.openingCount < this.maxOpening) read.send(this.open());
    else this.line.add(read, this.nowMs());
  }

  /** Whether the upstream accepts connections although one failed to open. */
  get isUpstreamThere(): boolean {
    return this.line.isUpstreamThere(this.nowMs());
  }

  /** Keeps a connection after a successful read, if another read may use it. */
  giveBack(connection: ReadConnection): void {
    if (!this.all.has(connection)) return;
    if (connection.usableUntilMs === 0) {
      this.drop(connection);
      return;
    }
    const next = this.line.next();
    if (next) next.send(connection);
    else this.idle.push(connection);
  }

  /** Closes every connection, also busy ones, and opens none for the waiting reads. */
  close(): void {
    clearInterval(this.checkTimer);
    this.line.clear();
    for (const connection of this.all) this.drop(connection);
  }

  /** Closes a connection, even a busy one. */
  drop(connection: ReadConnection): void {
    this.all.delete(connection);
    connection.discard();
  }

  private open(): ReadConnection {
    this.openingCount++;
    const connection = new ReadConnection({
      connect: this.connect,
      openedAtMs: this.nowMs(),
      onSettled: (isOpen) => this.onSettled(isOpen),
      onLost: () => this.drop(connection),
    });
    this.all.add(connection);
    return connection;
  }

  private onSettled(isOpen: boolean): void {
    this.openingCount--;
    if (isOpen) this.line.opened(this.nowMs());
    while (this.openingCount < this.maxOpening) {
      const next = this.line.next();
      if (!next) return;
      next.send(this.open());
    }
  }

  private checkConnections(): void {
    const nowMs = this.nowMs();
    const { connectMs, stallMs } = this.timeouts;
    const patience = this.line.isUpstreamThere(nowMs) ? PATIENCE_IN_A_CROWD : 1;
    const timeouts = { connectMs: patience * connectMs, stallMs };
    for (const connection of this.all) connection.checkTimeouts(nowMs, timeouts);
    this.line.giveUp(nowMs);
    this.closeIdle();
  }

  private closeIdle(): void {
    const nowMs = performance.now();
    this.idle = this.idle.filter((connection) => {
      if (connection.usableUntilMs > nowMs) return this.all.has(connection);
      this.drop(connection);
      return false;
    });
  }
}
