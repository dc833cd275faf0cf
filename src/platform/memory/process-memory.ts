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
const NO_LIMIT_BYTES = 2 ** 60;

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
  const groups = [...version2Groups(groupsFolder, ownGroupsFile)];
  if (groups.length === 0) groups.push(...version1Groups(groupsFolder, ownGroupsFile));
  const machine: ProcessMemory = {
    limitBytes: totalmem(),
    usedBytes: lastKnown(() => process.memoryUsage.rss()),
  };
  return groups.reduce(
    (least: ProcessMemory, group) => (group.limitBytes < least.limitBytes ? group : least),
    machine,
  );
}

function* version2Groups(root: string, ownGroupsFile: string): Iterable<ProcessMemory> {
  const path = /^0::(.*)$/m.exec(systemText(ownGroupsFile))?.[1];
  if (path === undefined) return;
  for (const folder of foldersOf(root, path)) {
    if (!existsSync(join(folder, 'memory.current'))) continue;
    yield {
      limitBytes: limitIn(join(folder, 'memory.max')),
      usedBytes: withoutCache(
        () => numberIn(join(folder, 'memory.current')),
        () => limitIn(join(folder, 'memory.max')),
        () => statistics(folder, ['inactive_file', 'active_file']),
      ),
    };
  }
}

function* version1Groups(root: string, ownGroupsFile: string): Iterable<ProcessMemory> {
  const path = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(systemText(ownGroupsFile))?.[1];
  if (path === undefined) return;
  for (const folder of foldersOf(join(root, 'memory'), path)) {
    if (!existsSync(join(folder, 'memory.usage_in_bytes'))) continue;
    yield {
      limitBytes: limitIn(join(folder, 'memory.limit_in_bytes')),
      usedBytes: withoutCache(
        () =>
          numberIn(join(folder, 'memory.usage_in_bytes')) +
          // Version 1 counts socket memory separately, if at all.
          numberIn(join(folder, 'memory.kmem.tcp.usage_in_bytes')),
        () => limitIn(join(folder, 'memory.limit_in_bytes')),
        () => statistics(folder, ['total_inactive_file', 'total_active_file']),
      ),
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

function withoutCache(
  countedBytes: () => number,
  limitBytes: () => number,
  cachedBytes: () => number,
): () => number {
  const closerAtBytes = limitBytes() * LOOK_CLOSER_AT;
  return lastKnown(() => {
    const counted = countedBytes();
    return counted < closerAtBytes ? counted : Math.max(0, counted - cachedBytes());
  });
}

function limitIn(file: string): number {
  const text = systemText(file).trim();
  // Without a limit version 2 says "max" and version 1 a very large number.
  const bytes = Number(text);
  return text === '' || Number.isNaN(bytes) || bytes > NO_LIMIT_BYTES
    ? Number.POSITIVE_INFINITY
    : bytes;
}

function numberIn(file: string): number {
  return Number(systemText(file)) || 0;
}

function statistics(folder: string, names: readonly string[]): number {
  const text = systemText(join(folder, 'memory.stat'));
  return names.reduce((sum, name) => {
    const bytes = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
    return sum + Number(bytes ?? 0);
  }, 0);
}
