import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

const STDOUT = 1;

/**
 * Calls `gone` once nobody reads the standard output any more, such as `head` that has had enough. A process hears of that
 * with its next write, which for a quiet timeline may come tomorrow. Node offers no way to ask; `tail` of GNU coreutils watches
 * its output for just that, so one that has nothing else to do shares this pipe. Where there is no such `tail`, nothing is
 * called.
 */
export function watchReader(gone: () => void): void {
  if (process.platform !== 'linux' || !fstatSync(STDOUT).isFIFO()) return;
  const args = ['--follow', `--pid=${process.pid}`, '/dev/null'];
  // It gets no key from the environment.
  const env = { PATH: process.env.PATH };
  const watcher = spawn('tail', args, { stdio: ['ignore', 'inherit', 'ignore'], env });
  watcher.on('error', () => undefined);
  watcher.on('exit', (_, signal) => {
    if (signal === 'SIGPIPE') gone();
  });
  watcher.unref();
  process.on('exit', () => watcher.kill());
}
