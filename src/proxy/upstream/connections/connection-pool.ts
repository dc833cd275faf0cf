import { awakeMs } from '../../../platform/clock/awake-clock.ts';
import type { Reached } from '../send-again.ts';
import { UpstreamConnection, type ConnectionTimeouts } from './connection.ts';
import type { Connector } from './connector.ts';

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

/** A request that needs a connection. */
export interface ConnectionTaker {
  /** Whether it no longer needs a connection. */
  readonly isOver: boolean;
  send(connection: UpstreamConnection): void;
  /** No connection opened in time. */
  onError(error: Error, reached: Reached): void;
}

export interface PoolOptions {
  connect: Connector;
  timeouts: ConnectionTimeouts;
  isTls: boolean;
  /** Whether connections are kept for further requests. */
  keepsConnections: boolean;
  /** Whether a request may wait for a connection for longer than one may take to open, as long as others open. */
  isPatient: boolean;
  /** A connection has opened, or could not be opened for this reason. */
  onConnect: (failure: Error | undefined) => void;
  /** A clock that stops while the process is stopped. */
  nowMs?: () => number;
}

/**
 * The connections to one upstream, each for one request at a time. The connection that was used last is taken first.
 * The pool keeps as many as were busy lately: it opens one only if all others are busy, and closes one that was
 * idle for a while. A fixed size would close and open thousands of connections with each event for as many waiting
 * readers.
 *
 * While the maximum number of connections is opening, further requests wait, within their own deadlines, as long as connections
 * open: an upstream that accepts many of them one by one is available. When none has opened for a while, they give up.
 */
export class ConnectionPool {
  private readonly options: PoolOptions;
  private readonly nowMs: () => number;
  /** The idle connections. Those used last are at the end. Some may already be closed. */
  private idle: UpstreamConnection[] = [];
  private readonly all = new Set<UpstreamConnection>();
  private readonly maxOpening: number;
  private openingCount = 0;
  /** When the last one opened. */
  private openedAtMs = Number.NEGATIVE_INFINITY;
  /** Those that no longer wait are removed at their turn. */
  private readonly waiting: ConnectionTaker[] = [];
  private readonly checkTimer = setInterval(() => this.checkConnections(), CHECK_INTERVAL_MS);

  constructor(options: PoolOptions) {
    this.options = options;
    this.nowMs = options.nowMs ?? awakeMs;
    this.maxOpening = options.isTls ? MAX_OPENING_TLS_CONNECTIONS : MAX_OPENING_CONNECTIONS;
    this.checkTimer.unref();
  }

  /**
   * Gives a request the connection that was used last, which is most likely still open, or another one. It gets no
   * connection that has not answered for longer than `maxIdleMs`.
   */
  take(taker: ConnectionTaker, maxIdleMs = Number.POSITIVE_INFINITY): void {
    let kept = this.idle.pop();
    while (kept && !this.all.has(kept)) kept = this.idle.pop();
    const nowMs = performance.now();
    if (kept && nowMs < kept.usableUntilMs) {
      if (nowMs - kept.provenAtMs <= maxIdleMs) {
        taker.send(kept);
        return;
      }
      this.idle.push(kept);
    }
    // The others have been idle for longer, so they are probably closed too.
    else if (kept) this.drop(kept);
    this.takeFresh(taker);
  }

  /**
   * Gives a request a new connection. While many are opening, it may also be one on which the upstream has just
   * answered.
   */
  takeFresh(taker: ConnectionTaker, besides?: string): void {
    if (this.openingCount < this.maxOpening) taker.send(this.open(besides));
    else this.waiting.push(taker);
  }

  /** Whether a request may try again to connect, because the upstream accepts others. */
  get isWorthWaiting(): boolean {
    return this.options.isPatient && this.isUpstreamThere;
  }

  /** Keeps a connection after a response, if another request may use it. */
  giveBack(connection: UpstreamConnection): void {
    if (!this.all.has(connection)) return;
    if (connection.usableUntilMs === 0) {
      this.drop(connection);
      return;
    }
    const next = this.nextWaiting();
    if (next) next.send(connection);
    else this.idle.push(connection);
  }

  /**
   * Connections that answered last before a point in time of `performance.now()` have died silently. Closes the idle
   * ones, and tells the requests on the others.
   */
  endUnproven(beforeMs: number): void {
    const unproven = [...this.all].filter((each) => each.isOpen && each.provenAtMs < beforeMs);
    for (const connection of unproven) {
      const { attempt } = connection;
      if (attempt) attempt.owner.onUnproven(attempt);
      else this.drop(connection);
    }
  }

  /** Closes every connection, also busy ones, and opens none for the waiting requests. */
  close(): void {
    clearInterval(this.checkTimer);
    this.waiting.length = 0;
    for (const connection of this.all) this.drop(connection);
  }

  /** Closes a connection, even a busy one. */
  drop(connection: UpstreamConnection): void {
    this.all.delete(connection);
    connection.discard();
  }

  /** Removes and returns the request that has waited longest. */
  private nextWaiting(): ConnectionTaker | undefined {
    for (;;) {
      const first = this.waiting.shift();
      if (!first?.isOver) return first;
    }
  }

  /** Whether the upstream has accepted connections lately, so that another attempt makes sense. */
  private get isUpstreamThere(): boolean {
    return this.nowMs() - this.openedAtMs < 2 * this.options.timeouts.connectMs;
  }

  private open(besides?: string): UpstreamConnection {
    this.openingCount++;
    const connection = new UpstreamConnection({
      connect: this.options.connect,
      openedAtMs: this.nowMs(),
      isKept: this.options.keepsConnections,
      besides,
      onSettled: (isOpen, failure) => this.onSettled(isOpen, failure),
      onLost: () => this.drop(connection),
    });
    this.all.add(connection);
    return connection;
  }

  private onSettled(isOpen: boolean, failure: Error | undefined): void {
    this.openingCount--;
    if (isOpen) this.openedAtMs = this.nowMs();
    if (isOpen || failure) this.options.onConnect(failure);
    if (failure && isLate(failure) && !this.isUpstreamThere) {
      for (const taker of this.waiting.splice(0)) {
        if (!taker.isOver) taker.onError(failure, 'nowhere');
      }
    }
    while (this.openingCount < this.maxOpening) {
      const next = this.nextWaiting();
      if (!next) return;
      next.send(this.open());
    }
  }

  private checkConnections(): void {
    const nowMs = this.nowMs();
    const { timeouts } = this.options;
    const patience = this.isWorthWaiting ? PATIENCE_IN_A_CROWD : 1;
    const current = { ...timeouts, connectMs: patience * timeouts.connectMs };
    for (const connection of this.all) connection.checkTimeouts(nowMs, current);
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

/** Whether a connection did not open in time, or the name of its server was not found in time. */
function isLate(failure: NodeJS.ErrnoException): boolean {
  return failure.code === 'ETIMEDOUT';
}
