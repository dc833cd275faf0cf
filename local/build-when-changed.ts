/**
 * Builds the gateway and the command line, or the parts that the arguments name, unless they are newer than all their
 * sources. The local system and the test suites start the built files, so one build serves all of them, also those that
 * run at the same time.
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

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);

/** A library of `packages/`, with what it is made of. */
const library =
  (name: string, main: string, ...uses: string[]) =>
  () => {
    const folders = [name, ...uses].map((each) => join('packages', each));
    const inputs = folders.flatMap((folder) => [
      join(folder, 'src'),
      join(folder, 'tsconfig.json'),
    ]);
    const args = ['-p', join(ROOT, 'packages', name)];
    buildWhenChanged(
      join('packages', name, 'dist', main),
      [...inputs, ...SETTINGS],
      bin('tsc'),
      args,
    );
  };

/** In the order in which they build on each other. */
const PARTS: Record<string, () => void> = {
  gateway: () =>
    buildWhenChanged(
      // `nest start` compiles into the same folder, but only the bundler writes this file.
      'dist/rolldown-runtime.js',
      ['src', 'tools/bundle.ts', ...SETTINGS],
      process.execPath,
      ['tools/bundle.ts'],
    ),
  client: library('client', 'index.js'),
  react: library('react', 'index.js', 'client'),
  'ai-sdk': library('ai-sdk', 'index.js', 'client'),
  'ag-ui': library('ag-ui', 'index.js', 'client'),
  mcp: library('mcp', 'main.js', 'client'),
  cli: () =>
    buildWhenChanged(
      'packages/cli/dist/packages/cli/src/main.js',
      ['packages/cli/src', 'packages/cli/build.ts', 'packages/client/src', 'src', ...SETTINGS],
      process.execPath,
      ['packages/cli/build.ts'],
    ),
};

const args = process.argv.slice(2);
const wanted = args.length > 0 ? args : ['gateway', 'cli'];
for (const [name, build] of Object.entries(PARTS)) if (wanted.includes(name)) build();
