import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { systemText } from '../process/system-file.ts';

/** The memory limit of this process and its use, in bytes. */
export interface ProcessMemory {
  readonly limitBytes: number;
  /** Without memory that the kernel can reclaim at once, such as cached files. */
  usedBytes(): number;
}

/** Above this share of the limit, cached files are subtracted from the memory in use. */
const LOOK_CLOSER_AT = 0.5;

/** The files of a control group in which a version says how much memory it may use and does, and the lines of cached files. */
interface GroupFiles {
  limit: string;
  used: readonly [string, ...string[]];
  cached: RegExp;
}

const VERSION_2: GroupFiles = {
  limit: 'memory.max',
  used: ['memory.current'],
  cached: /^(?:in)?active_file (\d+)$/gm,
};
/** It counts socket memory separately, if at all. */
const VERSION_1: GroupFiles = {
  limit: 'memory.limit_in_bytes',
  used: ['memory.usage_in_bytes', 'memory.kmem.tcp.usage_in_bytes'],
  cached: /^total_(?:in)?active_file (\d+)$/gm,
};

/**
 * Reads the memory of the control group that limits this process most, such as its container's. Without a group it
 * reads that of the machine and the process. The kernel kills a process that exceeds its group's limit. The group
 * also counts what the kernel holds for the process, such as socket buffers. Sources: the kernel's documentation,
 * "Control Group v2" (memory.current, memory.max, memory.stat) and "Memory Resource Controller" (version 1).
 */
export function processMemory(
  groupsFolder = '/sys/fs/cgroup',
  ownGroupsFile = '/proc/self/cgroup',
): ProcessMemory {
  const ownGroups = systemText(ownGroupsFile);
  const path = /^0::(.*)$/m.exec(ownGroups)?.[1];
  const path1 = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(ownGroups)?.[1];
  const groups = [...groupsOf(VERSION_2, groupsFolder, path)];
  if (groups.length === 0) groups.push(...groupsOf(VERSION_1, join(groupsFolder, 'memory'), path1));
  const machine: ProcessMemory = {
    limitBytes: totalmem(),
    usedBytes: lastKnown(() => process.memoryUsage.rss()),
  };
  return groups.reduce(
    (least: ProcessMemory, group) => (group.limitBytes < least.limitBytes ? group : least),
    machine,
  );
}

function* groupsOf(files: GroupFiles, root: string, path?: string): Iterable<ProcessMemory> {
  if (path === undefined) return;
  for (const folder of foldersOf(root, path)) {
    if (!existsSync(join(folder, files.used[0]))) continue;
    // Without a limit version 2 says "max", and version 1 more than any machine has.
    const limitBytes = numberIn(join(folder, files.limit)) || Number.POSITIVE_INFINITY;
    const countedBytes = (): number =>
      files.used.reduce((sum, name) => sum + numberIn(join(folder, name)), 0);
    yield {
      limitBytes,
      usedBytes: lastKnown(() => {
        const counted = countedBytes();
        if (counted < limitBytes * LOOK_CLOSER_AT) return counted;
        const cached = systemText(join(folder, 'memory.stat')).matchAll(files.cached);
        return [...cached].reduce((rest, [, bytes]) => Math.max(0, rest - Number(bytes)), counted);
      }),
    };
  }
}

/** The last known value. A reading opens a file and fails if no more files may be opened. */
function lastKnown(read: () => number): () => number {
  let last = 0;
  return () => {
    try {
      last = read() || last;
    } catch {
      // EMFILE: keep the last value.
    }
    return last;
  };
}

/** The folders of a group and its parents. A container often sees its own group as the root. */
function* foldersOf(root: string, path: string): Iterable<string> {
  for (let at = path; at !== '/' && at !== '.' && at !== ''; at = dirname(at)) yield join(root, at);
  yield root;
}

function numberIn(file: string): number {
  return Number(systemText(file)) || 0;
}
