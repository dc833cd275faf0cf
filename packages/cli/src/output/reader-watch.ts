import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

const STDOUT = 1;

/**
 * Calls `gone` when nobody reads standard output any more, for example after `head` has ended. A process notices
 * that at its next write, which can take a day for a quiet timeline. Node has no way to ask. `tail` of GNU
 * coreutils watches its output for exactly this, so an idle one shares this pipe. Without such a `tail`, nothing is
 * called.
 */
export function watchReader(gone: () => void): void {
  if (process.platform !== 'linux' || !fstatSync(STDOUT).isFIFO()) return;
  const args = ['--follow', `--pid=${process.pid}`, '/dev/null'];
  // Its environment contains no key.
  const env = { PATH: process.env.PATH };
  const watcher = spawn('tail', args, { stdio: ['ignore', 'inherit', 'ignore'], env });
  watcher.on('error', () => undefined);
  watcher.on('exit', (_, signal) => {
    if (signal === 'SIGPIPE') gone();
  });
  watcher.unref();
  process.on('exit', () => watcher.kill());
}
