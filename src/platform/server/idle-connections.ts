import { TimedList } from '../collections/timed-list.ts';
import type { Connection } from './connection.ts';

/** A client that has just connected may still send its first request. */
const FIRST_REQUEST_MS = 1_000;

/** The idle connections of a server, each kind in the order in which they became idle. */
export class IdleConnections {
  private readonly unused = new TimedList<Connection>();
  private readonly answered = new TimedList<Connection>();
  private readonly nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
  }

  /** A client has connected, and has sent nothing yet. */
  addUnused(connection: Connection): void {
    this.unused.add(connection, this.nowMs());
  }

  /** Every request of the connection is answered. */
  addAnswered(connection: Connection): void {
    this.answered.add(connection, this.nowMs());
  }

  /** The connection gets a request, which it does not count as used for yet, or is closed. */
  delete(connection: Connection): void {
    (connection.isUsed ? this.answered : this.unused).delete(connection);
  }

  /** Removes and returns the connection that has been idle for longest. Undefined if none is. */
  takeLongest(): Connection | undefined {
    const { oldest: unused } = this.unused;
    const { oldest: answered } = this.answered;
    const isOld = unused !== undefined && this.nowMs() - unused.sinceMs >= FIRST_REQUEST_MS;
    const isLonger = isOld && (!answered || unused.sinceMs < answered.sinceMs);
    const longest = (isLonger ? unused : answered)?.item;
    if (longest) this.delete(longest);
    return longest;
  }
}
