import { overloaded } from '../../../platform/errors/gateway-error.ts';
import { ConnectTimeout } from './connection-errors.ts';
import type { ReadConnection } from './read-connection.ts';

/** The longest queue. With TLS each handshake takes a millisecond of this process. */
const MAX_WAITING = 16_384;

/** A read that needs a connection. */
export interface ConnectionTaker {
  /** Whether it no longer needs a connection. */
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
    // Reads that no longer wait are removed at their turn, or when their places are needed.
    if (this.waiting.length >= MAX_WAITING) {
      this.waiting = this.waiting.filter((each) => !each.read.isOver);
    }
    if (this.waiting.length < MAX_WAITING) this.waiting.push({ read, sinceMs: nowMs });
    else {
      const what = 'Too many reads wait for a connection to the server behind this route';
      read.onNoConnection(overloaded('connecting', what));
    }
  }

  /** Removes and returns the read that has waited longest. */
  next(): ConnectionTaker | undefined {
    for (;;) {
      const first = this.waiting.shift();
      if (!first || !first.read.isOver) return first?.read;
    }
  }

  opened(nowMs: number): void {
    this.openedAtMs = nowMs;
  }

  /** Whether the upstream has accepted connections lately, so that another attempt makes sense. */
  isUpstreamThere(nowMs: number): boolean {
    return nowMs - this.openedAtMs < 2 * this.patienceMs;
  }

  /** Rejects the reads that wait in vain. */
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
