import { TimedList, type TimedItem } from '../collections/timed-list.ts';

export type HeldKind = keyof HeldBytes['byKind'];

/** A client that must read what is held for it. */
export interface SlowClient extends TimedItem<SlowClient> {
  /** Ends the client's response and frees what is held for it. */
  shed(): void;
}

/** The memory in bytes of the objects that belong to a held piece, in addition to its own bytes. */
export const PIECE_OVERHEAD_BYTES = 512;

/** The share of the budget that is open to new work. The rest is for work that has begun. */
const SHARE_FOR_NEW_WORK = 0.75;

/** A client that has read nothing for this long is disconnected when new work needs the memory. */
const GRACE_MS = 2_000;

/**
 * One budget for all bytes that the process holds. A cap per request would not limit the sum, because there are
 * tens of thousands of requests. New work that does not fit is refused. Bytes that have already arrived always
 * count. If they exceed the budget at the end of a turn of the event loop, the clients that have been slow for longest
 * are disconnected. Before the end of the turn nobody knows who is slow: Node reports what the kernel has accepted after
 * the function that wrote it.
 */
export class HeldBytes {
  readonly limitBytes: number;
  /** How many clients were disconnected to free memory. */
  shedCount = 0;
  /** Whether the whole process is short of memory. Then there is no new work, even within this budget. */
  isClosed = false;
  /**
   * The bytes that the gateway holds in memory for others: responses that clients have not read yet or that are not whole
   * yet, events for slow and for later readers, and request bodies.
   */
  readonly byKind = { answers: 0, events: 0, bodies: 0 };
  private totalBytes = 0;
  private readonly slowClients = new TimedList<SlowClient>();
  private shedAtTurnEnd: NodeJS.Immediate | undefined;
  private flowStepBytes = Number.POSITIVE_INFINITY;
  /** The bytes that have come or gone since the last step. */
  private flowBytes = 0;
  private onFlow: () => void = () => undefined;

  private readonly now: () => number;

  /** `now` gives milliseconds that only grow. */
  constructor(limitBytes: number, now: () => number = () => performance.now()) {
    this.limitBytes = limitBytes;
    this.now = now;
  }

  /** Calls a function each time that this many further bytes have come or gone. */
  watchFlow(stepBytes: number, onFlow: () => void): void {
    this.flowStepBytes = stepBytes;
    this.onFlow = onFlow;
  }

  /** Counts bytes that are passed to the kernel, which holds them until the client reads them. */
  sent(bytes: number): void {
    this.flow(bytes);
  }

  get total(): number {
    return this.totalBytes;
  }

  /** Whether new work may take this many bytes. */
  hasRoom(bytes = 0): boolean {
    return !this.isClosed && this.totalBytes + bytes <= this.limitBytes * SHARE_FOR_NEW_WORK;
  }

  /**
   * Takes bytes for new work. Returns false if the budget has no room for them, even without the clients that have
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

  /** Counts bytes that have already arrived. Slow clients may be disconnected for them when this turn ends. */
  hold(kind: HeldKind, bytes: number): void {
    this.add(kind, bytes);
    if (this.totalBytes <= this.limitBytes) return;
    this.shedAtTurnEnd ??= setImmediate(() => {
      this.shedAtTurnEnd = undefined;
      this.shed();
    });
  }

  release(kind: HeldKind, bytes: number): void {
    this.add(kind, -bytes);
  }

  /** Notes that the client does not read what is held for it at the moment. */
  addSlow(client: SlowClient): void {
    this.slowClients.add(client, this.now());
  }

  /** Notes that the client has read what was held, or has disconnected. */
  deleteSlow(client: SlowClient): void {
    this.slowClients.delete(client);
  }

  /** Disconnects clients that have been slow for a while, until the held bytes fit into this many. */
  shedSlow(untilBytes: number): void {
    this.shed(untilBytes, this.now() - GRACE_MS);
  }

  /** Disconnects clients that have been slow since before a given time, the slowest first. */
  private shed(untilBytes = this.limitBytes, slowSinceMs = Number.POSITIVE_INFINITY): void {
    for (;;) {
      const slowest = this.slowClients.oldest;
      if (!slowest || this.totalBytes <= untilBytes || slowest.sinceMs > slowSinceMs) return;
      this.slowClients.delete(slowest.item);
      this.shedCount++;
      slowest.item.shed();
    }
  }

  private add(kind: HeldKind, bytes: number): void {
    this.byKind[kind] += bytes;
    this.totalBytes += bytes;
    if (bytes > 0) this.flow(bytes);
  }

  private flow(bytes: number): void {
    this.flowBytes += bytes;
    if (this.flowBytes < this.flowStepBytes) return;
    this.flowBytes = 0;
    this.onFlow();
  }
}
