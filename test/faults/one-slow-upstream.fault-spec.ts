import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { object } from '@restatedev/restate-sdk';
import { startRestate, type RunningRestate } from '../../local/stack/restate.ts';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { registerAgents, type RegisteredAgents } from '../support/restate.ts';

const WAITING = 200;
const ASKED = 50;

type Upstream = 'history' | 'sync' | 'runtime';

/** The real servers, each behind a link that can delay its responses. */
describe('one upstream that answers nothing', () => {
  let folder: string;
  let restate: RunningRestate;
  let agents: RegisteredAgents;
  let history: RunningHistory;
  let catalog: Catalog;
  let gateway: TestGateway;
  const lines: Partial<Record<Upstream, FlakyLink>> = {};
  let requests = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-faults-'));
    restate = await startRestate({ dataDir: folder });
    agents = await registerAgents(
      [object({ name: 'slow-upstream', handlers: { wake: async () => {} } })],
      restate.adminUrl,
    );
    history = await startHistory();
    catalog = await startCatalog({ port: 0, databasePath: ':memory:' });
    const through = async (name: Upstream, url: string): Promise<string> => {
      const { port, pathname } = new URL(url);
      lines[name] = await startFlakyLink(Number(port));
      return `http://127.0.0.1:${lines[name].port}${pathname}`;
    };
    gateway = await startTestGateway({
      GATEWAY_RUNTIME_INGRESS_URL: await through('runtime', restate.ingressUrl),
      GATEWAY_HISTORY_URL: await through('history', history.url),
      GATEWAY_SYNC_URL: await through('sync', catalog.url),
      // Longer than a test: what waits is answered when the line continues, and by nothing else.
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '300000',
      GATEWAY_LIVE_TIMEOUT_MS: '300000',
      // All of them are in this process, which may be slow to accept 200 connections on a busy machine.
      GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '60000',
    });
    for (let index = 0; index < ASKED; index++)
      await fetch(stream(index), { method: 'PUT', headers: HEADERS });
  });
  afterAll(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(lines).map((line) => line.stop()));
    await agents?.stop();
    await Promise.all([restate?.stop(), history?.stop(), catalog?.stop()]);
    await rm(folder, { recursive: true });
  });

  it.each(['history', 'sync', 'runtime'] as const)(
    'holds up nobody who asks others, and its own get their answers later: %s',
    async (slow) => {
      const others = (['history', 'sync', 'runtime'] as const).filter((name) => name !== slow);
      lines[slow]?.stall();
      let answered = 0;
      const waiting = Array.from({ length: WAITING }, () =>
        ask(slow).finally(() => {
          answered += 1;
        }),
      );
      for (const other of others) {
        const statuses = await Promise.all(Array.from({ length: ASKED }, () => ask(other)));
        expect(new Set(statuses)).toEqual(new Set([ANSWER[other]]));
      }
      expect(answered).toBe(0);

      lines[slow]?.resume();
      expect(new Set(await Promise.all(waiting))).toEqual(new Set([ANSWER[slow]]));
    },
  );

  const stream = (index: number): string => `${gateway.url}/streams/t/default/slow/${index}`;

  /** One request that no other one shares its answer with, and the status that it gets, with what an error says. */
  async function ask(upstream: Upstream): Promise<number | string> {
    const number = ++requests;
    const answer = await {
      history: () =>
        number % 2 === 0
          ? fetch(`${stream(number % ASKED)}?offset=-1&n=${number}`, { headers: HEADERS })
          : fetch(stream(number % ASKED), {
              method: 'POST',
              headers: {
                ...HEADERS,
                'producer-id': `p${number}`,
                'producer-epoch': '0',
                'producer-seq': '0',
              },
              body: '{}',
            }),
      sync: () =>
        fetch(`${gateway.url}/shapes/v1/shape?table=entities&offset=-1&handle=${number}`, {
          headers: AUTHORIZED,
        }),
      runtime: () =>
        fetch(`${gateway.url}/api/a/slow-upstream/e${number}/send`, {
          method: 'POST',
          headers: HEADERS,
          body: '{}',
        }),
    }[upstream]();
    const text = await answer.text();
    return answer.ok ? answer.status : `${answer.status} ${text}`;
  }
});

const HEADERS = { ...AUTHORIZED, 'content-type': 'application/json' };
const ANSWER: Record<Upstream, number> = { history: 200, sync: 200, runtime: 202 };
