import { overloaded } from '../../../platform/errors/gateway-error.ts';
import { ConnectTimeout } from './connection-errors.ts';
import type { UpstreamConnection } from './connection.ts';
import type { Reached } from '../send-again.ts';

/** The longest queue. With TLS each handshake takes a millisecond of this process. */
const MAX_WAITING = 16_384;

/** A request that needs a connection. */
export interface ConnectionTaker {
  /** Whether it no longer needs a connection. */
  readonly isOver: boolean;
  send(connection: UpstreamConnection): void;
  /** No connection opened in time, or too many requests wait. */
  onError(error: Error, reached: Reached): void;
}

/**
 * Requests that wait for a connection while the maximum number of connections is opening. They wait, within their own
 * deadlines, as long as connections open: an upstream that accepts many of them one by one is available. When no
 * connection has opened for a while, they give up.
 */
export class ConnectionLine {
  private readonly patienceMs: number;
  private waiting: { taker: ConnectionTaker; sinceMs: number }[] = [];
  private openedAtMs = Number.NEGATIVE_INFINITY;

  /** `patienceMs` is how long one connection may take to open. */
  constructor(patienceMs: number) {
    this.patienceMs = patienceMs;
  }

  add(taker: ConnectionTaker, nowMs: number): void {
    // Those that no longer wait are removed at their turn, or when their places are needed.
    if (this.waiting.length >= MAX_WAITING) {
      this.waiting = this.waiting.filter((each) => !each.taker.isOver);
    }
    if (this.waiting.length < MAX_WAITING) this.waiting.push({ taker, sinceMs: nowMs });
    else {
      const what = 'Too many requests wait for a connection to the server behind this route';
      taker.onError(overloaded('connecting', what), 'nowhere');
    }
  }

  /** Removes and returns the request that has waited longest. */
  next(): ConnectionTaker | undefined {
    for (;;) {
      const first = this.waiting.shift();
      if (!first || !first.taker.isOver) return first?.taker;
    }
  }

  opened(nowMs: number): void {
    this.openedAtMs = nowMs;
  }

  /** Whether the upstream has accepted connections lately, so that another attempt makes sense. */
  isUpstreamThere(nowMs: number): boolean {
    return nowMs - this.openedAtMs < 2 * this.patienceMs;
  }

  /** Rejects the requests that wait in vain. */
  giveUp(nowMs: number): void {
    if (this.isUpstreamThere(nowMs)) return;
    while ((this.waiting[0]?.sinceMs ?? nowMs) <= nowMs - this.patienceMs) {
      const taker = this.waiting.shift()?.taker;
      if (taker && !taker.isOver) taker.onError(new ConnectTimeout(this.patienceMs), 'nowhere');
    }
  }

  clear(): void {
    this.waiting.length = 0;
  }
}
