import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const TIMEOUT_MS = 300_000;
const ENTER = 'ip link set lo up && echo "$0" >/proc/sys/net/ipv4/tcp_migrate_req && exec "$@"';

/**
 * Runs a program of this folder in a network namespace of its own, with and without `net.ipv4.tcp_migrate_req`. Returns the JSON
 * that it prints.
 */
export async function inNamespace<Result>(
  program: string,
  migrates: boolean,
  args: string[] = [],
): Promise<Result> {
  const node = [process.execPath, join(import.meta.dirname, program), ...args];
  const { stdout } = await promisify(execFile)(
    'unshare',
    ['--map-root-user', '--net', 'sh', '-c', ENTER, migrates ? '1' : '0', ...node],
    { timeout: TIMEOUT_MS },
  );
  return JSON.parse(stdout) as Result;
}
