import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');

export interface BuiltGateway {
  folder: string;
  /** Path of the program. */
  main: string;
  remove(): Promise<void>;
}

/**
 * Builds `src` into a temporary folder, with the compiler and the settings of `nest build`, but for
 * the type check: what a test starts is what the sources are now, whatever lies in `dist`.
 */
export async function buildGateway(): Promise<BuiltGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-build-'));
  const outDir = join(folder, 'dist');
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const project = join(ROOT, 'tsconfig.build.json');
  const options = ['--noCheck', '--sourceMap', 'false', '--outDir', outDir];
  await promisify(execFile)(process.execPath, [compiler, '--project', project, ...options]);
  return {
    folder,
    main: join(outDir, 'main.js'),
    remove: () => rm(folder, { recursive: true }),
  };
}
