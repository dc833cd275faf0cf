import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import type { HeldBytes } from './held-bytes.ts';
import type { ProcessMemory } from './process-memory.ts';

/** From this share of the limit on clients that do not read are ended, until it is as low as the other one. */
const SHEDS_AT = 0.8;
const SHEDS_TO = 0.75;
/** From this share on those too that do, if the kernel holds much for them. */
const SHEDS_ALL_AT = 0.85;
/** From this share on there is no new work; it begins again below the lower one. */
const CLOSES_AT = 0.9;
const OPENS_AT = 0.85;
/** Not more often than this, unless it is urgent: to look at a thousand connections takes a millisecond. */
const SHED_INTERVAL_MS = 50;
/** How often the memory is looked at, beside after so much traffic, as a share of the limit. */
const INTERVAL_MS = 250;
const FLOW_SHARE = 0.01;

/** Ends clients for which the kernel holds much. */
export interface SocketShedder {
  /**
   * Ends those that have taken nothing lately, and those for which the kernel holds most first, until it can take back
   * so many bytes; `isUrgent`: also those that take something.
   */
  shed(bytes: number, isUrgent: boolean): void;
}

/**
 * Watches the memory of the whole process. The budget of held bytes counts what the gateway knows of; this sees the
 * rest too: the buffers of sockets in the kernel, garbage that is not collected yet, and what nobody thought of.
 * Where it becomes short, clients that do not read are ended first, and then new work is refused.
 */
export class MemoryWatch {
  /** Times that new work was refused because memory was short. */
  closedCount = 0;
  private readonly memory: ProcessMemory;
  private readonly held: HeldBytes;
  private readonly sockets: SocketShedder;
  private readonly logger: Pick<Logger, 'warn' | 'info'>;
  private readonly heap: () => { used_heap_size: number; heap_size_limit: number };
  private readonly timer: NodeJS.Timeout;
  private shedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    memory: ProcessMemory,
    held: HeldBytes,
    sockets: SocketShedder,
    logger: Pick<Logger, 'warn' | 'info'>,
    heap: () => { used_heap_size: number; heap_size_limit: number } = getHeapStatistics,
  ) {
    this.memory = memory;
    this.held = held;
    this.sockets = sockets;
    this.logger = logger;
    this.heap = heap;
    held.watchFlow(memory.limitBytes * FLOW_SHARE, () => this.look());
    this.timer = setInterval(() => this.look(), INTERVAL_MS);
    this.timer.unref();
  }

  get limitBytes(): number {
    return this.memory.limitBytes;
  }

  /** The share of its limit that the memory takes, or the heap where that is closer to its own. */
  get usedShare(): number {
    const { used_heap_size: usedHeap, heap_size_limit: heapLimit } = this.heap();
    return Math.max(this.memory.usedBytes() / this.memory.limitBytes, usedHeap / heapLimit);
  }

  look(): void {
    const share = this.usedShare;
    if (share >= CLOSES_AT && !this.held.isClosed) this.close(share);
    else if (share < OPENS_AT && this.held.isClosed) this.open(share);
    if (share < SHEDS_AT) return;
    const isUrgent = share >= SHEDS_ALL_AT;
    const nowMs = performance.now();
    if (!isUrgent && nowMs - this.shedAtMs < SHED_INTERVAL_MS) return;
    this.shedAtMs = nowMs;
    const tooManyBytes = (share - SHEDS_TO) * this.memory.limitBytes;
    this.sockets.shed(tooManyBytes, isUrgent);
    this.held.shedSlow(Math.max(0, this.held.total - tooManyBytes));
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private close(share: number): void {
    this.held.isClosed = true;
    this.closedCount++;
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
