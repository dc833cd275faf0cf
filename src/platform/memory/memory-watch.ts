import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import { collectGarbage } from '../process/v8-flags.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { ProcessMemory } from './process-memory.ts';

/**
 * From this share of the limit, clients that do not read are disconnected, until the share is below the second
 * one.
 */
const SHEDS_AT = 0.8;
const SHEDS_TO = 0.75;
/** From this share, clients that do read are disconnected too, if their kernel buffers are large. */
const SHEDS_ALL_AT = 0.85;
/** From this share there is no new work, until the share is below the second one. */
const CLOSES_AT = 0.9;
const OPENS_AT = 0.85;
/**
 * The least time from the end of a search to the next one, and when it is urgent. A search of a thousand connections
 * takes milliseconds, in which nobody else is served.
 */
const SHED_INTERVAL_MS = 50;
const URGENT_INTERVAL_MS = 20;
/**
 * V8 does not know the limit: it leaves garbage for a minute when nothing else happens. The least time from the end of a
 * collection to the next one, and as a multiple of how long the last one took.
 */
const COLLECT_INTERVAL_MS = 1_000;
const COLLECT_REST = 10;
/** How often the memory is checked. It is also checked after this much traffic, as a share of the limit. */
const INTERVAL_MS = 250;
const FLOW_SHARE = 0.01;

/** Disconnects clients for which the kernel holds much. */
export interface SocketShedder {
  /**
   * Disconnects clients that have read nothing lately, those with the largest kernel buffers first, until this
   * many bytes are free. With `isUrgent` also clients that read.
   */
  shed(bytes: number, isUrgent: boolean): void;
}

/**
 * Watches the memory of the whole process. The budget of held bytes counts only what the gateway knows; this also
 * sees the kernel's socket buffers, garbage, and everything else. When memory is short, clients that do not read
 * are disconnected first, then garbage is collected, and then new work is refused.
 */
export class MemoryWatch {
  private readonly memory: ProcessMemory;
  private readonly held: HeldBytes;
  private readonly sockets: SocketShedder;
  private readonly logger: Pick<Logger, 'warn' | 'info'>;
  private readonly heap: () => { used_heap_size: number; heap_size_limit: number };
  private readonly timer: NodeJS.Timeout;
  private readonly collectGarbage: () => void;
  private collectAtMs = Number.NEGATIVE_INFINITY;
  private shedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    memory: ProcessMemory,
    held: HeldBytes,
    sockets: SocketShedder,
    logger: Pick<Logger, 'warn' | 'info'>,
    heap: () => { used_heap_size: number; heap_size_limit: number } = getHeapStatistics,
    collect: () => void = collectGarbage,
  ) {
    this.memory = memory;
    this.held = held;
    this.sockets = sockets;
    this.logger = logger;
    this.heap = heap;
    this.collectGarbage = collect;
    held.watchFlow(memory.limitBytes * FLOW_SHARE, () => this.measure());
    this.timer = setInterval(() => this.measure(), INTERVAL_MS);
    this.timer.unref();
  }

  get limitBytes(): number {
    return this.memory.limitBytes;
  }

  /** The share of the memory limit that is in use, or of the heap limit if that is higher. */
  get usedShare(): number {
    const { used_heap_size: usedHeap, heap_size_limit: heapLimit } = this.heap();
    return Math.max(this.memory.usedBytes() / this.memory.limitBytes, usedHeap / heapLimit);
  }

  measure(): void {
    const share = this.shareWithoutGarbage();
    if (share >= CLOSES_AT && !this.held.isClosed) this.close(share);
    else if (share < OPENS_AT && this.held.isClosed) this.open(share);
    if (share < SHEDS_AT) return;
    const isUrgent = share >= SHEDS_ALL_AT;
    if (performance.now() - this.shedAtMs < (isUrgent ? URGENT_INTERVAL_MS : SHED_INTERVAL_MS)) {
      return;
    }
    const tooManyBytes = (share - SHEDS_TO) * this.memory.limitBytes;
    this.sockets.shed(tooManyBytes, isUrgent);
    this.held.shedSlow(Math.max(0, this.held.total - tooManyBytes));
    this.shedAtMs = performance.now();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** The share in use, after a collection where new work would be refused, or is. */
  private shareWithoutGarbage(): number {
    const share = this.usedShare;
    const isShort = share >= (this.held.isClosed ? OPENS_AT : CLOSES_AT);
    const beganAtMs = performance.now();
    if (!isShort || beganAtMs < this.collectAtMs) return share;
    this.collectGarbage();
    const endedAtMs = performance.now();
    const restMs = Math.max(COLLECT_INTERVAL_MS, COLLECT_REST * (endedAtMs - beganAtMs));
    this.collectAtMs = endedAtMs + restMs;
    return this.usedShare;
  }

  private close(share: number): void {
    this.held.isClosed = true;
    this.logger.warn(
      { usedShare: share, limitBytes: this.memory.limitBytes, heldBytes: this.held.total },
      'memory is short: new reads, and bodies that would have to be held, are refused for now',
    );
  }

  private open(share: number): void {
    this.held.isClosed = false;
    this.logger.info({ usedShare: share }, 'memory is enough again');
  }
}
