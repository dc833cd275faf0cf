import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { Random } from '../soak/random.ts';
import { CatalogReader, RowChanger } from '../soak/catalog.ts';
import { API_KEY, AUTHORIZED } from '../support/credentials.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { TimelineReader } from '../support/timeline-reader.ts';
import { startRollingGateways, type RollingGateways } from './rolling-gateways.ts';

const DRAIN_MS = 2_500;
const COPIES = 2;
const REPLACEMENTS = 6;
const COMMANDS_AT_ONCE = 20;
const STREAMS = 3;
/** Longer than the lame-duck phase, so that the listener closes while commands are in flight. */
const MAX_RUNTIME_DELAY_MS = 1_200;

/**
 * Two gateways behind HAProxy, each drained and replaced by turns. Nobody tries anything again but the
 * real clients of the reads: every single request has to be answered, and rightly.
 */
describe('two gateways behind a load balancer, drained and replaced by turns', () => {
  let runtime: ScriptedUpstream;
  let history: RunningHistory;
  let catalog: Catalog;
  let gateways: RollingGateways;

  beforeAll(async () => {
    let invocations = 0;
    const random = new Random(2);
    runtime = await startScriptedUpstream((_request, response) => {
      const invocationId = `inv_${++invocations}`;
      setTimeout(
        () => response.end(JSON.stringify({ invocationId, status: 'Accepted' })),
        random.between(10, MAX_RUNTIME_DELAY_MS),
      );
    });
    history = await startHistory({ longPollTimeoutMs: 60_000 });
    catalog = await startCatalog({ port: 0, databasePath: ':memory:' });
    gateways = await startRollingGateways(COPIES, {
      GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
      GATEWAY_HISTORY_URL: history.url,
      GATEWAY_SYNC_URL: catalog.url,
      GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
    });
  });
  afterAll(async () => {
    await gateways?.stop();
    await catalog?.stop();
    await history?.stop();
    await runtime?.stop();
  });

  it('lose no command, break no answer, and let every client resume without loss or repetition', async () => {
    const over = new AbortController();
    const { signal } = over;
    const streams = Array.from(
      { length: STREAMS },
      (_, index) => `${gateways.url}/streams/t/default/rolling/${index}`,
    );
    for (const stream of streams) expect(await status(stream, 'PUT')).toBe(201);
    const readers = streams.flatMap((url) =>
      (['long-poll', 'sse'] as const).map(
        (live) => new TimelineReader({ url, apiKey: API_KEY, live }),
      ),
    );
    const catalogReader = new CatalogReader(gateways.url, 'rolling');
    const rows = new RowChanger(catalog.url, 'rolling');
    const random = new Random(1);

    const answers: number[] = [];
    const written = streams.map(() => 0);
    const load = [
      ...Array.from({ length: COMMANDS_AT_ONCE }, async () => {
        while (!signal.aborted) {
          answers.push(await status(`${gateways.url}/api/a/echo/e1/send`, 'POST', '{}'));
          await sleep(random.between(0, 50));
        }
      }),
      ...streams.map(async (url, index) => {
        while (!signal.aborted) {
          const appended = await status(url, 'POST', JSON.stringify({ seq: written[index] }));
          expect([200, 204]).toContain(appended);
          written[index] = (written[index] ?? 0) + 1;
          await sleep(random.between(0, 100));
        }
      }),
      rows.run(5, signal),
    ];
    for (let turn = 0; turn < REPLACEMENTS; turn++) {
      expect(await gateways.replace(turn % COPIES)).toEqual({ code: 0, signal: null });
    }
    over.abort();
    await Promise.all(load);

    expect(answers.length).toBeGreaterThan(200);
    expect(new Set(answers)).toEqual(new Set([202]));
    expect(runtime.seen).toHaveLength(answers.length);

    await Promise.all(
      readers.map((reader, index) => reader.until(written[Math.floor(index / 2)] ?? 0)),
    );
    for (const [index, reader] of readers.entries()) {
      expect(reader.faults).toEqual({ gaps: [], repeats: [] });
      expect(reader.events).toHaveLength(written[Math.floor(index / 2)] ?? 0);
      await reader.stop();
    }
    while (catalogReader.value !== rows.value) await sleep(20);
    catalogReader.stop();
    expect(catalogReader.errors).toEqual([]);
    expect(catalogReader.steppedBack).toEqual([]);
  });

  async function status(url: string, method: string, body?: string): Promise<number> {
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    const response = await fetch(url, { method, headers, body });
    await response.arrayBuffer();
    return response.status;
  }
});
