import { join } from 'node:path';
import { startProcess, untilReady } from '../../local/stack/process.ts';
import type { InstantUpstream } from './instant.ts';

const START_TIMEOUT_MS = 20_000;
const MAIN = join(import.meta.dirname, 'node-upstream-main.ts');

/**
 * Node's own server in a process of its own, which answers at once, as the history store would if it had
 * nothing to do for a read.
 */
export async function startNodeUpstream(): Promise<InstantUpstream> {
  const upstream = startProcess({
    name: 'the upstream that answers at once',
    command: process.execPath,
    args: [MAIN],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  });
  const streamsUrl = await untilReady(upstream, START_TIMEOUT_MS, () =>
    upstream.waitForLine((text) => text.startsWith('http://')),
  );
  return { streamsUrl, stop: () => upstream.kill() };
}
