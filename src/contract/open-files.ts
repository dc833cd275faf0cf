import { systemText } from '../platform/process/system-file.ts';

/** Files reserved for listeners, probes, metrics and secret files. */
const RESERVED_FILES = 64;
/**
 * Up to 110 % of the cap, connections are accepted to be refused with a response, and each may have a request in
 * flight at an upstream.
 */
const FILES_PER_CONNECTION = 2.1;
const READS_PER_CONNECTION = 0.8;

/** The limit of open files of this process. Node raises the soft limit to the hard one when it starts. */
export function openFileLimit(limitsFile = '/proc/self/limits'): number {
  const limit = /^Max open files +(\d+) /m.exec(systemText(limitsFile))?.[1];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

/**
 * The most open files when connections and reads are at their caps. Idle connections to one upstream can remain
 * from its last reads while as many reads use another upstream.
 */
export function filesAtCaps({
  maxConnections,
  maxOpenReads,
}: {
  maxConnections: number;
  maxOpenReads: number;
}): number {
  return RESERVED_FILES + Math.ceil(FILES_PER_CONNECTION * maxConnections) + maxOpenReads;
}

/** The most connections for which this many files suffice, if four of five have a read. */
export function connectionsWithin(maxFiles: number): number {
  const filesPerConnection = FILES_PER_CONNECTION + READS_PER_CONNECTION;
  return Math.max(1, Math.floor((maxFiles - RESERVED_FILES) / filesPerConnection));
}
