import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { Random } from '../soak/random.ts';
import { CatalogReader, RowChanger } from '../soak/catalog.ts';
import { API_KEY, AUTHORIZED, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startHaproxy, type RunningHaproxy } from '../support/haproxy.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { ReadToken } from '../support/read-token.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { TimelineReader } from '../support/timeline-reader.ts';
import { until } from '../support/until.ts';

const DRAIN_MS = 5_000;
const COPIES = 3;
const REPLACEMENTS = 6;
const COMMANDS_AT_ONCE = 20;
const STREAMS = 3;
/** Shorter than a drain, so that each read ends a few times by its token, and some while their copy drains. */
const TOKEN_TTL_SECONDS = 3;
const TOKEN_READERS_OF_STREAM = 4;
/** Longer than the lame-duck phase, so that the listener closes while commands are in flight. */
const MAX_RUNTIME_DELAY_MS = 2_000;

/**
 * Three gateways behind HAProxy, each drained and replaced by turns. Nobody tries anything again but the
 * real clients of the reads: every single request has to be answered, and rightly.
 */
describe('three gateways behind a load balancer, drained and replaced by turns while read tokens end', () => {
  let runtime: ScriptedUpstream;
  let history: RunningHistory;
  let catalog: Catalog;
  let haproxy: RunningHaproxy;
  /** The settings of each copy, and those that run now. */
  let settings: Record<string, string>[];
  const copies: GatewayChild[] = [];

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
    const places = Array.from({ length: COPIES }, () => ({ port: 0, managementPort: 0 }));
    for (const place of places) Object.assign(place, await choosePorts(place));
    settings = places.map(({ port, managementPort }) => ({
      GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
      GATEWAY_HISTORY_URL: history.url,
      GATEWAY_SYNC_URL: catalog.url,
      GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
      GATEWAY_PORT: String(port),
      GATEWAY_MANAGEMENT_PORT: String(managementPort),
    }));
    for (const env of settings) copies.push(await startGatewayChild({ env }));
    haproxy = await startHaproxy(places);
  });
  afterAll(async () => {
    await haproxy?.stop();
    await Promise.all(copies.map((gateway) => gateway.kill()));
    await catalog?.stop();
    await history?.stop();
    await runtime?.stop();
  });

  /** SIGTERM, and another one in its place. */
  async function replace(index: number): Promise<void> {
    copies[index]!.signal('SIGTERM');
    expect(await copies[index]!.exited).toEqual({ code: 0, signal: null });
    const next = await startGatewayChild({ env: settings[index] });
    copies[index] = next;
    // Traffic returns only behind the load balancer's readiness check.
    await until('the load balancer asks the gateway', () =>
      next.log.some(({ message }) => message === 'request'),
    );
  }

  it('lose no command, break no answer, and let every client resume without loss or repetition', async () => {
    const over = new AbortController();
    const { signal } = over;
    const streams = Array.from(
      { length: STREAMS },
      (_, index) => `${haproxy.url}/streams/t/default/rolling/${index}`,
    );
    for (const stream of streams) expect(await status(stream, 'PUT')).toBe(201);
    /** How many tokens each reader has had. */
    const minted: number[] = [];
    const mint = async (reader: number) => {
      minted[reader]! += 1;
      const wanted = { prefix: '/streams/t/default/', ttlSeconds: TOKEN_TTL_SECONDS };
      const token = await mintReadToken(READ_TOKEN_SECRET, wanted);
      return { token, ttlSeconds: TOKEN_TTL_SECONDS };
    };
    const LIVES = ['long-poll', 'sse'] as const;
    const ownReaders = streams.map((url) =>
      LIVES.map((live) => new TimelineReader({ url, apiKey: API_KEY, live })),
    );
    const tokenReaders = streams.map((url) =>
      Array.from({ length: TOKEN_READERS_OF_STREAM }, (_, index) => {
        const reader = minted.push(0) - 1;
        const own = new ReadToken(() => mint(reader));
        const authorization = (): Promise<string> => own.authorization();
        return new TimelineReader({ url, authorization, live: LIVES[index % 2]! });
      }),
    );
    const catalogReader = new CatalogReader(haproxy.url, 'rolling');
    const rows = new RowChanger(catalog.url, 'rolling');
    const random = new Random(1);

    const answers: number[] = [];
    const written = streams.map(() => 0);
    const load = [
      ...Array.from({ length: COMMANDS_AT_ONCE }, async () => {
        while (!signal.aborted) {
          answers.push(await status(`${haproxy.url}/api/a/echo/e1/send`, 'POST', '{}'));
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
      await replace(turn % COPIES);
    }
    over.abort();
    await Promise.all(load);

    expect(answers.length).toBeGreaterThan(200);
    expect(new Set(answers)).toEqual(new Set([202]));
    expect(runtime.seen).toHaveLength(answers.length);

    for (const [index, count] of written.entries()) {
      for (const reader of [...ownReaders[index]!, ...tokenReaders[index]!]) {
        await reader.until(count);
        expect(reader.faults).toEqual({ gaps: [], repeats: [] });
        expect(reader.events).toHaveLength(count);
        await reader.stop();
      }
    }
    // Each of these has been through a few tokens. The client goes on by itself, unless a read ends while it is parked.
    expect(Math.min(...minted)).toBeGreaterThan(2);
    const failed = copies.flatMap(({ log }) =>
      log.filter(({ level }) => level === 'error' || level === 'fatal'),
    );
    expect(failed).toEqual([]);
    await until('the catalog is read to its end', () => catalogReader.value === rows.value);
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
