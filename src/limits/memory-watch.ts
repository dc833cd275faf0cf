import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import type { HeldBytes } from './held-bytes.ts';
import type { ProcessMemory } from './process-memory.ts';

/** From this share of the limit on there is no new work; it begins again below the lower one. */
const CLOSES_AT = 0.85;
const OPENS_AT = 0.8;
/** From this share on clients that do not read are ended. */
const SHEDS_AT = 0.9;
/** How often the memory is looked at, beside after so much traffic, as a share of the limit. */
const INTERVAL_MS = 250;
const FLOW_SHARE = 0.01;

/** Ends clients that do not take what the kernel holds for them. */
export interface SocketShedder {
  /** Ends those for which the kernel holds most, until it can take back so many bytes. */
  shed(bytes: number): void;
}

/**
 * Watches the memory of the whole process. The budget of held bytes counts what the gateway knows of; this sees the
 * rest too: the buffers of sockets in the kernel, garbage that is not collected yet, and what nobody thought of.
 * Where it becomes short, new work is refused first, and then clients that do not read are ended.
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
    const tooManyBytes = (share - CLOSES_AT) * this.memory.limitBytes;
    this.sockets.shed(tooManyBytes);
    this.held.shed(Math.max(0, this.held.total - tooManyBytes));
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
