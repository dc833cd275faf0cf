import { awaitOk } from '../../local/stack/await-ok.ts';
import { startProcess, untilReady, type RunningProcess } from '../../local/stack/process.ts';

const START_TIMEOUT_MS = 20_000;

export interface ServerProcessOptions {
  name: string;
  command: string;
  args: string[];
  env?: Record<string, string>;
  /** Answers 200 once the server is ready. */
  readyUrl: string;
}

/**
 * Starts a server whose standard output goes to `/dev/null`: to read a line a request would cost this
 * machine more than writing it costs the server. Standard error is kept for messages.
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<RunningProcess> {
  const server = startProcess({
    name: options.name,
    command: '/bin/sh',
    args: ['-c', 'exec "$0" "$@" >/dev/null', options.command, ...options.args],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...options.env },
  });
  await untilReady(server, START_TIMEOUT_MS, (signal) => awaitOk(options.readyUrl, signal));
  return server;
}
