import { readdir, readFile } from 'node:fs/promises';

/** `sysconf(_SC_CLK_TCK)`, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** The fields of `/proc/PID/stat` from the third one on, of a process or a thread; see proc(5). */
type Stat = string[];
const FIELD = { state: 0, group: 2, utime: 11, stime: 12, childrenUtime: 13, childrenStime: 14 };
const RUNNABLE = 'R';

/**
 * Processor time, in milliseconds, that a process group has used so far, its ended children included;
 * none of none.
 */
export async function groupCpuMs(groupPid: number | undefined): Promise<number> {
  if (groupPid === undefined) return 0;
  const { utime, stime, childrenUtime, childrenStime } = FIELD;
  const ticks = (await statsOfGroup(groupPid)).map(({ stat }) =>
    [utime, stime, childrenUtime, childrenStime].reduce((sum, at) => sum + Number(stat[at]), 0),
  );
  return (ticks.reduce((sum, each) => sum + each, 0) * 1000) / TICKS_PER_SECOND;
}

export async function pidsOfGroup(groupPid: number): Promise<string[]> {
  return (await statsOfGroup(groupPid)).map(({ pid }) => pid);
}

/** Whether any thread of a process group is running or waits for a processor. */
export async function isGroupRunnable(groupPid: number): Promise<boolean> {
  const pids = await pidsOfGroup(groupPid);
  const threads = await Promise.all(pids.map((pid) => statsIn(`/proc/${pid}/task`)));
  return threads.flat().some(({ stat }) => stat[FIELD.state] === RUNNABLE);
}

interface ProcessStat {
  pid: string;
  stat: Stat;
}

async function statsOfGroup(groupPid: number): Promise<ProcessStat[]> {
  const all = await statsIn('/proc');
  return all.filter(({ stat }) => Number(stat[FIELD.group]) === groupPid);
}

/** The statistics of each process or thread in a folder of `/proc`. One that has just ended is left out. */
async function statsIn(folder: string): Promise<ProcessStat[]> {
  const names = await readdir(folder).catch(() => []);
  const stats = names
    .filter((name) => /^\d+$/.test(name))
    .map(async (pid) => ({ pid, stat: await statIn(`${folder}/${pid}`) }));
  return (await Promise.all(stats)).filter((each): each is ProcessStat => each.stat !== undefined);
}

async function statIn(folder: string): Promise<Stat | undefined> {
  try {
    const text = await readFile(`${folder}/stat`, 'latin1');
    // The second field, the name in brackets, may hold anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
