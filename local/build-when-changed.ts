/**
 * Builds the gateway and the command line unless they are newer than all their sources. The local system and the
 * test suites start the built files, so one build serves all of them, also those that run at the same time.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json'];

/** Folders are compared too, because a removed or renamed file shows only in its folder. */
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
  // What a build says is not the output of the command that it is for.
  const stdio = ['inherit', process.stderr.fd, 'inherit'] as const;
  if (builtMs <= changedMs) execFileSync(command, args, { cwd: ROOT, stdio: [...stdio] });
}

const nest = join(ROOT, 'node_modules/.bin/nest');
buildWhenChanged('dist/main.js', ['src', ...SETTINGS], nest, ['build']);
buildWhenChanged(
  'packages/cli/dist/packages/cli/src/main.js',
  ['packages/cli/src', 'packages/cli/build.ts', 'packages/client/src', 'src', ...SETTINGS],
  process.execPath,
  ['packages/cli/build.ts'],
);
