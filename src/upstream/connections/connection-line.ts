import { overloaded } from '../../errors/gateway-error.ts';
import { ConnectTimeout } from './connection-errors.ts';
import type { ReadConnection } from './read-connection.ts';

/** Longer than this the line is not: each of so many TLS handshakes takes a millisecond of this process. */
const MAX_WAITING = 16_384;

/** A read that needs a connection. */
export interface ConnectionTaker {
  /** It needs none any more. */
  readonly isOver: boolean;
  send(connection: ReadConnection): void;
  /** No connection opened in time, or too many reads wait. */
  onNoConnection(error: Error): void;
}

/**
 * Reads that wait for a connection while the maximum number of connections is opening. They wait, within their own
 * deadlines, as long as connections open: an upstream that accepts many readers one by one is available. When no
 * connection has opened for a while, they give up.
 */
export class ConnectionLine {
  private readonly patienceMs: number;
  private waiting: { read: ConnectionTaker; sinceMs: number }[] = [];
  private openedAtMs = Number.NEGATIVE_INFINITY;

  /** `patienceMs` is how long one connection may take to open. */
  constructor(patienceMs: number) {
    this.patienceMs = patienceMs;
  }

  add(read: ConnectionTaker, nowMs: number): void {
    // Those that are over go when it is their turn, or when their places are needed.
    if (this.waiting.length >= MAX_WAITING) {
      this.waiting = this.waiting.filter((each) => !each.read.isOver);
    }
    if (this.waiting.length < MAX_WAITING) this.waiting.push({ read, sinceMs: nowMs });
    else {
      const what = 'Too many reads wait for a connection to the server behind this route';
      read.onNoConnection(overloaded('connecting', what));
    }
  }

  /** Takes out who has waited longest. */
  next(): ConnectionTaker | undefined {
    for (;;) {
      const first = this.waiting.shift();
      if (!first || !first.read.isOver) return first?.read;
    }
  }

  opened(nowMs: number): void {
    this.openedAtMs = nowMs;
  }

  /** Whether the upstream has taken connections lately, so that one more try is worth it. */
  isUpstreamThere(nowMs: number): boolean {
    return nowMs - this.openedAtMs < 2 * this.patienceMs;
  }

  /** Gives those up for whom there is nothing to wait for. */
  giveUp(nowMs: number): void {
    if (this.isUpstreamThere(nowMs)) return;
    while ((this.waiting[0]?.sinceMs ?? nowMs) <= nowMs - this.patienceMs) {
      const read = this.waiting.shift()?.read;
      if (read && !read.isOver) read.onNoConnection(new ConnectTimeout(this.patienceMs));
    }
  }

  clear(): void {
    this.waiting.length = 0;
  }
}
