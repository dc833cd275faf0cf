import { readFile } from 'node:fs/promises';
import { pidsOfGroup } from './cpu-time.ts';

const SAMPLE_MS = 50;
/** The kernel counts what sockets hold in pages of this size (proc(5)). */
const PAGE_BYTES = 4_096;

/** The resident memory of a process in bytes, as the kernel counts it. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/**
 * What the kernel takes for its own objects and for the data in sockets, in bytes. Both ends of a connection on this machine
 * count: half of what it grows by belongs to one.
 */
export async function kernelBytes(): Promise<number> {
  const [meminfo, sockstat] = await Promise.all([
    readFile('/proc/meminfo', 'utf8'),
    readFile('/proc/net/sockstat', 'utf8'),
  ]);
  const slabBytes = Number(/^Slab:\s+(\d+) kB$/m.exec(meminfo)?.[1]) * 1024;
  return slabBytes + Number(/^TCP:.* mem (\d+)$/m.exec(sockstat)?.[1]) * PAGE_BYTES;
}

/** The memory of a process group in bytes. What its processes share counts once: the kernel's proportional set size. */
export async function groupMemoryBytes(groupPid: number | undefined): Promise<number> {
  if (groupPid === undefined) return 0;
  const each = (await pidsOfGroup(groupPid)).map(async (pid) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) * 1024;
  });
  return (await Promise.all(each)).reduce((sum, bytes) => sum + bytes, 0);
}

/** The most resident memory while `run` ran, sampled 20 times a second. */
export async function peakResidentBytes(pid: number, run: () => Promise<void>): Promise<number> {
  let peak = await residentBytes(pid);
  const timer = setInterval(() => {
    residentBytes(pid).then(
      (bytes) => {
        peak = Math.max(peak, bytes);
      },
      () => undefined,
    );
  }, SAMPLE_MS);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return Math.max(peak, await residentBytes(pid));
}
