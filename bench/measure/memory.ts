import { readFile } from 'node:fs/promises';

const SAMPLE_MS = 50;

/** What a process holds in memory, in bytes, as the kernel counts it. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** The most that it held while this ran, looked at 20 times a second. */
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
