import { readFileSync } from 'node:fs';

/** The caps that open files follow from. */
export interface ConnectionCaps {
  maxConnections: number;
  maxOpenReads: number;
}

/** Kept for what is neither a client's connection nor an upstream's: listeners, probes, metrics, files of secrets. */
const RESERVED_FILES = 64;
/** Beyond its cap a connection is let in to hear so, up to 110 %; and each may have a request under way at an upstream. */
const FILES_PER_CONNECTION = 2.1;
const READS_PER_CONNECTION = 0.8;

/** The files that this process may have open. Node raises the soft limit to the hard one when it starts. */
export function openFileLimit(limitsFile = '/proc/self/limits'): number {
  try {
    const limit = /^Max open files +(\d+) /m.exec(readFileSync(limitsFile, 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * How many files are open at most when connections and reads are at their caps. Connections to one upstream are kept for
 * as many reads as were under way lately, while as many are under way to another.
 */
export function filesAtCaps({ maxConnections, maxOpenReads }: ConnectionCaps): number {
  return RESERVED_FILES + Math.ceil(FILES_PER_CONNECTION * maxConnections) + maxOpenReads;
}

/** The most connections for which so many files are enough, if four of five have a read. */
export function connectionsWithin(maxFiles: number): number {
  const filesPerConnection = FILES_PER_CONNECTION + READS_PER_CONNECTION;
  return Math.max(1, Math.floor((maxFiles - RESERVED_FILES) / filesPerConnection));
}
