import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { AUTHORIZED, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startHaproxy, type RunningHaproxy } from '../support/haproxy.ts';
import { startHistoryChild, type HistoryChild } from '../support/history-child.ts';
import { ReadToken } from '../support/read-token.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { TimelineReader } from '../support/timeline-reader.ts';

const COPIES = [0, 1, 2];
const ROUNDS = 2;
const DRAIN_MS = 2_500;
/** Shorter than a drain: each read ends a few times by its token, and some while its copy goes. */
const TOKEN_TTL_SECONDS = 2;
const READERS = 12;
const STREAM = '/t/default/rolling-tokens';

describe('three gateways behind a load balancer, restarted one after the other while read tokens end', () => {
  let history: HistoryChild;
  let haproxy: RunningHaproxy;
  let launch: (index: number) => Promise<GatewayChild>;
  const gateways: GatewayChild[] = [];

  beforeAll(async () => {
    history = await startHistoryChild();
    const ports = await choosePorts({
      port0: 0,
      management0: 0,
      port1: 0,
      management1: 0,
      port2: 0,
      management2: 0,
    });
    const places = [
      { port: ports.port0, managementPort: ports.management0 },
      { port: ports.port1, managementPort: ports.management1 },
      { port: ports.port2, managementPort: ports.management2 },
    ];
    launch = (index) =>
      startGatewayChild({
        env: {
          GATEWAY_PORT: String(places[index]?.port),
          GATEWAY_MANAGEMENT_PORT: String(places[index]?.managementPort),
          GATEWAY_HISTORY_URL: history.url,
          GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
        },
      });
    for (const index of COPIES) gateways.push(await launch(index));
    haproxy = await startHaproxy(places);
  });
  afterAll(async () => {
    await haproxy?.stop();
    await Promise.all(gateways.map((gateway) => gateway.process.kill()));
    await history?.process.stop();
  });

  it('give each reader every event once, and answer every append', async () => {
    const url = `${haproxy.url}/streams${STREAM}`;
    expect(await write(url, 'PUT')).toBe(201);
    let minted = 0;
    const token = (): ReadToken =>
      new ReadToken(async () => {
        minted += 1;
        const ttlSeconds = TOKEN_TTL_SECONDS;
        return {
          token: await mintReadToken(READ_TOKEN_SECRET, {
            prefix: '/streams/t/default/',
            ttlSeconds,
          }),
          ttlSeconds,
        };
      });
    const readers = Array.from({ length: READERS }, (_, index) => {
      const own = token();
      const live = index % 2 === 0 ? 'long-poll' : 'sse';
      return new TimelineReader({ url, live, authorization: () => own.authorization() });
    });

    const over = new AbortController();
    let written = 0;
    const appending = (async () => {
      while (!over.signal.aborted) {
        expect([200, 204]).toContain(await write(url, 'POST', JSON.stringify({ seq: written })));
        written += 1;
        await sleep(50);
      }
    })();
    for (let round = 0; round < ROUNDS; round++) {
      for (const index of COPIES) {
        gateways[index]?.signal('SIGTERM');
        expect(await gateways[index]?.exited).toEqual({ code: 0, signal: null });
        const gateway = await launch(index);
        gateways[index] = gateway;
        while (!gateway.log.some(({ message }) => message === 'request')) await sleep(20);
      }
    }
    over.abort();
    await appending;

    await Promise.all(readers.map((reader) => reader.until(written)));
    for (const reader of readers) {
      expect(reader.faults).toEqual({ gaps: [], repeats: [] });
      expect(reader.events).toHaveLength(written);
      await reader.stop();
    }
    // Each reader has been through a few tokens, and more than one read.
    expect(minted).toBeGreaterThan(READERS * 3);
    for (const { restarts } of readers) expect(restarts).toBeGreaterThan(0);
    const failed = gateways.flatMap(({ log }) =>
      log.filter(({ level }) => level === 'error' || level === 'fatal'),
    );
    expect(failed).toEqual([]);
  }, 120_000);

  async function write(url: string, method: string, body?: string): Promise<number> {
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    const response = await fetch(url, { method, headers, body });
    await response.arrayBuffer();
    return response.status;
  }
});
