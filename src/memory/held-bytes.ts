import { SlowClients, type SlowClient } from './slow-clients.ts';

/**
 * The bytes that the gateway holds in memory for others: responses that clients have not read yet, events for slow
 * and for later readers, request bodies, and pipelined requests that wait.
 */
export const HELD_KINDS = ['answers', 'events', 'bodies', 'waiting'] as const;
export type HeldKind = (typeof HELD_KINDS)[number];

/** The memory of the objects that come with each held piece, in bytes, beside the bytes of the piece itself. */
export const PIECE_OVERHEAD_BYTES = 512;

/** The share of the budget that is open to new work. The rest is for work that has begun. */
const SHARE_FOR_NEW_WORK = 0.75;

/** A client that has taken nothing for so long has to go where new work needs the room. */
const GRACE_MS = 2_000;

/**
 * One budget for all bytes that the process holds. A cap for each request alone is no cap: there are tens of
 * thousands of requests. New work that does not fit is refused. Bytes that are here already always count, and
 * where they go over the budget, the clients that have been slow for longest are ended.
 */
export class HeldBytes {
  readonly limitBytes: number;
  /** How often a client was ended to make room. */
  shedCount = 0;
  /** The memory of the whole process is short, so there is no new work for now, even within this budget. */
  isClosed = false;
  /** Bytes that were handed to the kernel for clients, ever. */
  sentBytes = 0;
  private readonly byKind: Record<HeldKind, number> = {
    answers: 0,
    events: 0,
    bodies: 0,
    waiting: 0,
  };
  private totalBytes = 0;
  private readonly slowClients = new SlowClients();
  private isShedding = false;
  private flowStepBytes = Number.POSITIVE_INFINITY;
  private nextFlowAt = Number.POSITIVE_INFINITY;
  private onFlow: () => void = () => undefined;

  private readonly now: () => number;

  /** `now` gives milliseconds that only grow. */
  constructor(limitBytes: number, now: () => number = () => performance.now()) {
    this.limitBytes = limitBytes;
    this.now = now;
  }

  /** Has a function called each time that so many bytes more have been handed to the kernel. */
  watchFlow(stepBytes: number, onFlow: () => void): void {
    this.flowStepBytes = stepBytes;
    this.nextFlowAt = this.sentBytes + stepBytes;
    this.onFlow = onFlow;
  }

  /** Counts bytes that are handed to the kernel. It holds them until the client takes them. */
  sent(bytes: number): void {
    this.sentBytes += bytes;
    if (this.sentBytes < this.nextFlowAt) return;
    this.nextFlowAt = this.sentBytes + this.flowStepBytes;
    this.onFlow();
  }

  get total(): number {
    return this.totalBytes;
  }

  of(kind: HeldKind): number {
    return this.byKind[kind];
  }

  /** Whether new work may take so many bytes more. */
  hasRoom(bytes = 0): boolean {
    return !this.isClosed && this.totalBytes + bytes <= this.limitBytes * SHARE_FOR_NEW_WORK;
  }

  /**
   * Takes bytes for new work. Returns false where the budget does not have them, even without the clients that have
   * been slow for a while.
   */
  tryTake(kind: HeldKind, bytes: number): boolean {
    if (!this.hasRoom(bytes)) {
      this.shedSlow(this.limitBytes * SHARE_FOR_NEW_WORK - bytes);
      if (!this.hasRoom(bytes)) return false;
    }
    this.add(kind, bytes);
    return true;
  }

  /** Counts bytes that are here already. May end slow clients, the caller's own among them. */
  hold(kind: HeldKind, bytes: number): void {
    this.add(kind, bytes);
    if (this.totalBytes > this.limitBytes) this.shed();
  }

  release(kind: HeldKind, bytes: number): void {
    this.add(kind, -bytes);
  }

  /** Something is held that this client does not take just now. */
  addSlow(client: SlowClient): void {
    this.slowClients.add(client, this.now());
  }

  /** The client has taken what was held, or has gone. */
  deleteSlow(client: SlowClient): void {
    this.slowClients.delete(client);
  }

  /** Ends clients that have been slow for a while, until what is held fits into so many bytes. */
  shedSlow(untilBytes: number): void {
    this.shed(untilBytes, this.now() - GRACE_MS);
  }

  /** Ends those that have been slow for longest, of those that have been since a time. */
  private shed(untilBytes = this.limitBytes, slowSinceMs = Number.POSITIVE_INFINITY): void {
    // A client that is ended releases bytes, and its end can make others hold some.
    if (this.isShedding) return;
    this.isShedding = true;
    try {
      for (;;) {
        const { slowest } = this.slowClients;
        if (!slowest || this.totalBytes <= untilBytes || slowest.sinceMs > slowSinceMs) return;
        this.slowClients.delete(slowest.client);
        this.shedCount++;
        slowest.client.shed();
      }
    } finally {
      this.isShedding = false;
    }
  }

  private add(kind: HeldKind, bytes: number): void {
    this.byKind[kind] += bytes;
    this.totalBytes += bytes;
  }
}
