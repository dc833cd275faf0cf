import { connectionsWithin } from './open-files.ts';

const MIB = 1_048_576;

/** What the process takes before it serves anybody, warm; measured. */
const BASE_BYTES = 128 * MIB;
/** The share of the rest that parked reads may take. What is left is for what is held, for sockets and for garbage. */
const READS_SHARE = 0.6;
/** The share of the rest that may be held for others; see `HeldBytes`. */
const HELD_SHARE = 0.15;
/** What a parked read with its two connections takes, those in the kernel too, after events; measured. */
const READ_BYTES = 51_200;
/** What a read takes of the heap of V8, which has a limit of its own. */
const READ_HEAP_BYTES = 20_480;
const HEAP_SHARE = 0.5;
/** More than this one process cannot serve well. */
const MAX_OPEN_READS = 40_000;
const MIN_OPEN_READS = 100;
const MIN_HELD_BYTES = 8 * MIB;
/** Connections beside those of open reads, as a factor. */
const CONNECTIONS_PER_READ = 1.25;

/** How much of what there may be at once, so that it fits into the memory and into the files that may be open. */
export interface MemoryPlan {
  maxOpenReads: number;
  maxConnections: number;
  maxHeldBytes: number;
}

/**
 * The caps that follow from the memory that the process may use and from the limit of its heap, both in bytes, and from
 * the files that it may have open.
 */
export function memoryPlan(
  limitBytes: number,
  heapLimitBytes: number,
  maxOpenFiles = Number.POSITIVE_INFINITY,
): MemoryPlan {
  const forWork = Math.max(0, limitBytes - BASE_BYTES);
  const byMemory = (forWork * READS_SHARE) / READ_BYTES;
  const byHeap = (heapLimitBytes * HEAP_SHARE) / READ_HEAP_BYTES;
  const reads = Math.max(MIN_OPEN_READS, Math.floor(Math.min(byMemory, byHeap, MAX_OPEN_READS)));
  const withinFiles = connectionsWithin(maxOpenFiles);
  return {
    maxOpenReads: Math.min(reads, Math.max(1, Math.floor(withinFiles / CONNECTIONS_PER_READ))),
    maxConnections: Math.min(Math.floor(reads * CONNECTIONS_PER_READ), withinFiles),
    maxHeldBytes: Math.max(MIN_HELD_BYTES, Math.floor(forWork * HELD_SHARE)),
  };
}
