import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRestate } from '../../local/stack/restate.ts';
import type { Started } from '../started.ts';
import { startNodeProgram } from './node-program.ts';

const POLL_MS = 50;
const HANDLED_TIMEOUT_MS = 120_000;

/** A real Restate with the service `bench`, whose handler `wake` does almost nothing. */
export interface Runtime {
  ingressUrl: string;
  adminUrl: string;
  /** How many messages the agent has handled so far. */
  handled(): Promise<number>;
  /** Fulfils once the agent has handled so many in all. */
  untilHandled(count: number): Promise<void>;
}

export async function startRuntime(started: Started): Promise<Runtime> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-bench-restate-'));
  started.add({ stop: () => rm(dataDir, { recursive: true, force: true }) });
  const restate = started.add(await startRestate({ dataDir }));
  const { process: agent, line } = await startNodeProgram({
    name: 'the agent',
    main: 'agent-main.ts',
    ready: '{',
    readable: (text) => (text.startsWith('{') ? text : undefined),
  });
  started.add({ stop: () => agent.kill() });
  const { uri, countUrl } = JSON.parse(line) as { uri: string; countUrl: string };
  await register(restate.adminUrl, uri);
  const handled = async (): Promise<number> =>
    ((await (await fetch(countUrl)).json()) as { handled: number }).handled;
  return {
    ingressUrl: restate.ingressUrl,
    adminUrl: restate.adminUrl,
    handled,
    untilHandled: async (count) => {
      const giveUpAtMs = performance.now() + HANDLED_TIMEOUT_MS;
      while ((await handled()) < count) {
        if (performance.now() > giveUpAtMs)
          throw new Error('messages were accepted and not handled');
        await sleep(POLL_MS);
      }
    },
  };
}

async function register(adminUrl: string, uri: string): Promise<void> {
  const response = await fetch(`${adminUrl}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Restate refused the agent: ${response.status} ${text}`);
}
