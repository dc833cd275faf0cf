/**
 * Builds the gateway and the command line unless they are newer than all that they are made from. The local system and the
 * suites start what is built: one build serves them all, also those that run side by side.
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

/** Runs the build of `output` unless it is newer than all of `inputs`. */
function buildWhenChanged(output: string, inputs: string[], command: string, args: string[]): void {
  const builtMs = statSync(join(ROOT, output), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const changedMs = Math.max(...inputs.map((path) => newestMs(join(ROOT, path))));
  if (builtMs <= changedMs) execFileSync(command, args, { cwd: ROOT, stdio: 'inherit' });
}

const nest = join(ROOT, 'node_modules/.bin/nest');
buildWhenChanged('dist/main.js', ['src', ...SETTINGS], nest, ['build']);
buildWhenChanged(
  'cli/dist/cli/src/main.js',
  ['cli/src', 'cli/build.ts', 'client/src', 'src', ...SETTINGS],
  process.execPath,
  ['cli/build.ts'],
);
