import { join } from 'node:path';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type Exit,
  type RunningProcess,
} from '../../local/stack/process.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface BuiltGateway {
  /** Path of the program. */
  main: string;
  /** Runs it with these variables alone until it listens, on this Node or another one. */
  start(env: Record<string, string>, node?: string): Promise<StartedGateway>;
  /** Kills what still runs of it. */
  stop(): Promise<void>;
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

/** The gateway in `dist`, which the global setup has built from the current sources. */
export function builtGateway(): BuiltGateway {
  const main = join(ROOT, 'dist/main.js');
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
      const line = await untilReady(gateway, READY_TIMEOUT_MS, () =>
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
    stop: async () => {
      await Promise.all(started.map((gateway) => gateway.kill()));
    },
  };
}
