import { connectionsWithin } from './open-files.ts';

const MIB = 1_048_576;

/** The measured memory of a warm process without clients. */
const BASE_BYTES = 128 * MIB;
/** The share of the remaining memory for parked reads. The other share is for held bytes, sockets and garbage. */
const READS_SHARE = 0.6;
/** The share of the remaining memory that may be held for others; see `HeldBytes`. */
const HELD_SHARE = 0.15;
/** The measured memory of a parked read with its two connections after events, including the kernel's. */
const READ_BYTES = 51_200;
/** The part of a read in V8's heap, which has a limit of its own. */
const READ_HEAP_BYTES = 20_480;
const HEAP_SHARE = 0.5;
/** One process cannot serve more reads than this well. */
const MAX_OPEN_READS = 40_000;
const MIN_OPEN_READS = 100;
const MIN_HELD_BYTES = 8 * MIB;
/** The most connections, as a multiple of the open reads. */
const CONNECTIONS_PER_READ = 1.25;

/** Caps that fit into the memory and the open files of the process. */
export interface MemoryPlan {
  maxOpenReads: number;
  maxConnections: number;
  maxHeldBytes: number;
}

/**
 * Computes the caps from the process's memory limit and heap limit, both in bytes, and from its limit of open
 * files.
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
