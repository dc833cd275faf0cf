/**
 * Builds `dist` unless it is newer than all that it is made from. The local system and the suites start the built gateway: one
 * build serves them all, also those that run side by side.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json'];

/** Folders as well: a file that was removed or renamed shows in its folder alone. */
function newestMs(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  const entries = readdirSync(path).map((name) => newestMs(join(path, name)));
  return Math.max(status.mtimeMs, ...entries);
}

const builtMs = statSync(join(ROOT, 'dist/main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const changedMs = Math.max(...['src', ...SETTINGS].map((path) => newestMs(join(ROOT, path))));
if (builtMs <= changedMs) {
  execFileSync(join(ROOT, 'node_modules/.bin/nest'), ['build'], { cwd: ROOT, stdio: 'inherit' });
}
