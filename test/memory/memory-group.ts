import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A control group that limits the memory of what runs in it, as a container's does. */
export interface MemoryGroup {
  /** What a command is run under, to be in the group from its first moment. */
  wrapper: string[];
  /** What it takes now, without cached files and sockets in the kernel. */
  processBytes(): number;
  /** What the kernel holds for its sockets. */
  socketBytes(): number;
  /** How often the kernel has ended a process of it. */
  kills(): number;
  remove(): void;
}

const ROOT = '/sys/fs/cgroup';
let made = 0;

/** Makes a group with a limit. Throws if the machine or the user does not allow it. */
export function makeMemoryGroup(limitBytes: number): MemoryGroup {
  const name = `gateway-test-${process.pid}-${made++}`;
  return existsSync(join(ROOT, 'cgroup.controllers'))
    ? version2Group(name, limitBytes)
    : version1Group(name, limitBytes);
}

function version2Group(name: string, limitBytes: number): MemoryGroup {
  const folder = join(ROOT, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'memory.max'), String(limitBytes));
  writeFileSync(join(folder, 'memory.swap.max'), '0');
  return {
    ...group(folder),
    processBytes: () =>
      number(folder, 'memory.current') -
      field(folder, 'memory.stat', 'sock') -
      field(folder, 'memory.stat', 'inactive_file') -
      field(folder, 'memory.stat', 'active_file'),
    socketBytes: () => field(folder, 'memory.stat', 'sock'),
    kills: () => field(folder, 'memory.events', 'oom_kill'),
  };
}

/** Version 1 counts the kernel's TCP memory separately. The sum must stay within the limit. */
function version1Group(name: string, limitBytes: number): MemoryGroup {
  const folder = join(ROOT, 'memory', name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'memory.limit_in_bytes'), String(limitBytes));
  // Without a limit of its own it is not counted at all.
  writeFileSync(join(folder, 'memory.kmem.tcp.limit_in_bytes'), String(limitBytes));
  return {
    ...group(folder),
    processBytes: () =>
      number(folder, 'memory.usage_in_bytes') -
      field(folder, 'memory.stat', 'total_inactive_file') -
      field(folder, 'memory.stat', 'total_active_file'),
    socketBytes: () => number(folder, 'memory.kmem.tcp.usage_in_bytes'),
    kills: () => field(folder, 'memory.oom_control', 'oom_kill'),
  };
}

function group(folder: string): Pick<MemoryGroup, 'wrapper' | 'remove'> {
  const enter = `echo $$ > ${join(folder, 'cgroup.procs')}; ulimit -n $(ulimit -Hn); exec "$@"`;
  return {
    wrapper: ['sh', '-c', enter, dirname(folder)],
    remove: () => rmdirSync(folder),
  };
}

function number(folder: string, file: string): number {
  return Number(readFileSync(join(folder, file), 'utf8'));
}

function field(folder: string, file: string, name: string): number {
  const text = readFileSync(join(folder, file), 'utf8');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
