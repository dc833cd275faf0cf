import { Deadlines, type Deadline } from '../deadlines.ts';
import { ConnectTimeout, ReadConnection } from './read-connection.ts';
import { connectorTo, type Connector } from './upstream-socket.ts';

/**
 * As many connections are kept open for reads to come; of an upstream. With fewer than reads are under way at
 * once each read opens one anew, which at 512 costs a third of all processor time.
 */
const MAX_IDLE_CONNECTIONS = 1_024;
/**
 * As many are being opened at once. Thousands of readers come together when an upstream or a gateway was
 * restarted; more than the upstream's queue takes (511 where it is written in Node) would knock again
 * after 1, 3, 7, 15 and 31 seconds, all at the same times, and overflow it each time.
 */
export const MAX_OPENING_CONNECTIONS = 128;
/** How often connections that have been idle for too long are closed. */
const IDLE_CHECK_INTERVAL_MS = 1_000;

/** A read that needs a connection. */
export interface ConnectionTaker {
  /** It needs none any more. */
  readonly isOver: boolean;
  send(connection: ReadConnection): void;
  /** None came about in time. */
  onNoConnection(error: Error): void;
}

/** The connections to one upstream, each for one read at a time; the last one used is the first one taken. */
export class ReadPool {
  private readonly connectTimeoutMs: number;
  private readonly connect: Connector;
  /** Those used last come last. */
  private readonly idle: ReadConnection[] = [];
  private readonly all = new Set<ReadConnection>();
  private openingCount = 0;
  private readonly waiting: { read: ConnectionTaker; deadline: Deadline }[] = [];
  private readonly deadlines = new Deadlines(() => performance.now());
  private readonly idleCheck = setInterval(() => this.closeIdle(), IDLE_CHECK_INTERVAL_MS);

  constructor(origin: URL, connectTimeoutMs: number, connect: Connector = connectorTo(origin)) {
    this.connectTimeoutMs = connectTimeoutMs;
    this.connect = connect;
    this.idleCheck.unref();
  }

  /** Gives a read the connection that was used last, the likeliest to be open still, or another one. */
  take(read: ConnectionTaker): void {
    const kept = this.idle.pop();
    if (kept && performance.now() < kept.usableUntilMs) {
      read.send(kept);
      return;
    }
    // Of the others hardly one can be used: they have been idle for longer.
    if (kept) this.drop(kept);
    this.takeFresh(read);
  }

  /**
   * Gives a read a new connection, or, while many are being opened, one on which an upstream has just
   * answered. It waits for one of them as long as it would for its own to open.
   */
  takeFresh(read: ConnectionTaker): void {
    if (this.openingCount < MAX_OPENING_CONNECTIONS) {
      read.send(this.open());
      return;
    }
    const untilMs = performance.now() + this.connectTimeoutMs;
    const deadline = this.deadlines.add(untilMs, () => {
      if (!read.isOver) read.onNoConnection(new ConnectTimeout(this.connectTimeoutMs));
    });
    this.waiting.push({ read, deadline });
  }

  /** Keeps a connection whose read has ended well, if it may serve another one. */
  giveBack(connection: ReadConnection): void {
    if (!this.all.has(connection)) return;
    if (connection.usableUntilMs === 0) {
      this.drop(connection);
      return;
    }
    const next = this.nextWaiting();
    if (next) next.send(connection);
    else if (this.idle.length < MAX_IDLE_CONNECTIONS) this.idle.push(connection);
    else this.drop(connection);
  }

  /** Closes every connection, whatever is under way, and opens none for those who wait. */
  close(): void {
    clearInterval(this.idleCheck);
    for (const { deadline } of this.waiting.splice(0)) deadline.callOff();
    for (const connection of this.all) this.drop(connection);
  }

  /** Closes a connection, whatever is under way. */
  drop(connection: ReadConnection): void {
    this.all.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at !== -1) this.idle.splice(at, 1);
    connection.discard();
  }

  private open(): ReadConnection {
    this.openingCount++;
    const connection = new ReadConnection({
      connect: this.connect,
      connectTimeoutMs: this.connectTimeoutMs,
      onSettled: () => {
        this.openingCount--;
        this.openForWaiting();
      },
      onLost: () => this.drop(connection),
    });
    this.all.add(connection);
    return connection;
  }

  private openForWaiting(): void {
    while (this.openingCount < MAX_OPENING_CONNECTIONS) {
      const next = this.nextWaiting();
      if (!next) return;
      next.send(this.open());
    }
  }

  private nextWaiting(): ConnectionTaker | undefined {
    for (;;) {
      const next = this.waiting.shift();
      if (!next) return undefined;
      next.deadline.callOff();
      if (!next.read.isOver) return next.read;
    }
  }

  private closeIdle(): void {
    const nowMs = performance.now();
    for (const connection of this.idle.filter(({ usableUntilMs }) => usableUntilMs <= nowMs)) {
      this.drop(connection);
    }
  }
}
