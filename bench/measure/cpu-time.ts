import { readdir, readFile } from 'node:fs/promises';

/** `sysconf(_SC_CLK_TCK)`, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time, in milliseconds, that a process group has used so far, its ended children included;
 * none of none.
 */
export async function groupCpuMs(groupPid: number | undefined): Promise<number> {
  if (groupPid === undefined) return 0;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const ticks = await Promise.all(pids.map((pid) => ticksOf(pid, groupPid)));
  return (ticks.reduce((sum, each) => sum + each, 0) * 1000) / TICKS_PER_SECOND;
}

async function ticksOf(pid: string, groupPid: number): Promise<number> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return 0; // It has ended in the meantime.
  }
  // The second field, the name in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [group, utime, stime, childrenUtime, childrenStime] = [2, 11, 12, 13, 14].map((at) =>
    Number(fields[at]),
  );
  if (group !== groupPid) return 0;
  return (utime ?? 0) + (stime ?? 0) + (childrenUtime ?? 0) + (childrenStime ?? 0);
}
