import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  startProcess,
  untilReady,
  type Exit,
  type RunningProcess,
} from '../../local/stack/process.ts';

const ROOT = join(import.meta.dirname, '../..');
const START_TIMEOUT_MS = 20_000;

export interface BuiltGateway {
  /** Path of the program. */
  main: string;
  /** Runs it with these variables alone until it listens, on this Node or another one. */
  start(env: Record<string, string>, node?: string): Promise<StartedGateway>;
  /** Kills what still runs of it and removes it. */
  remove(): Promise<void>;
}

export interface StartedGateway {
  process: RunningProcess;
  port: number;
  /** Its log so far, parsed. */
  log: LogLine[];
  exited: Promise<Exit>;
  /** To the process alone, not to its group. */
  signal(signal: NodeJS.Signals): void;
}

export type LogLine = Record<string, unknown> & { message: string };

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

  const main = join(outDir, 'main.js');
  const started: RunningProcess[] = [];
  return {
    main,
    start: async (env, node = process.execPath) => {
      const log: LogLine[] = [];
      const gateway = startProcess({
        name: 'gateway',
        command: node,
        args: [main],
        env,
        onLine: (line) => log.push(JSON.parse(line) as LogLine),
      });
      started.push(gateway);
      const line = await untilReady(gateway, START_TIMEOUT_MS, () =>
        gateway.waitForLine((text) => text.includes('"the gateway listens"')),
      );
      return {
        process: gateway,
        port: (JSON.parse(line) as { port: number }).port,
        log,
        exited: gateway.exited,
        signal: (signal) => process.kill(gateway.pid, signal),
      };
    },
    remove: async () => {
      await Promise.all(started.map((gateway) => gateway.kill()));
      await rm(folder, { recursive: true });
    },
  };
}
