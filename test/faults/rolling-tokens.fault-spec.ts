import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUTHORIZED, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startHistoryChild, type HistoryChild } from '../support/history-child.ts';
import { ReadToken } from '../support/read-token.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { TimelineReader } from '../support/timeline-reader.ts';
import { startRollingGateways, type RollingGateways } from './rolling-gateways.ts';

const COPIES = 3;
const ROUNDS = 2;
const DRAIN_MS = 2_500;
/** Shorter than a drain, so that each read ends a few times by its token, and some while their copy drains. */
const TOKEN_TTL_SECONDS = 2;
const READERS = 12;
const STREAM = '/t/default/rolling-tokens';

describe('three gateways behind a load balancer, restarted one after the other while read tokens end', () => {
  let history: HistoryChild;
  let gateways: RollingGateways;

  beforeAll(async () => {
    history = await startHistoryChild();
    gateways = await startRollingGateways(COPIES, {
      GATEWAY_HISTORY_URL: history.url,
      GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
    });
  });
  afterAll(async () => {
    await gateways?.stop();
    await history?.process.stop();
  });

  it('give each reader every event once, and answer every append', async () => {
    const url = `${gateways.url}/streams${STREAM}`;
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
    for (let turn = 0; turn < ROUNDS * COPIES; turn++) {
      expect(await gateways.replace(turn % COPIES)).toEqual({ code: 0, signal: null });
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
    const failed = gateways.copies.flatMap(({ log }) =>
      log.filter(({ level }) => level === 'error' || level === 'fatal'),
    );
    expect(failed).toEqual([]);
  });

  async function write(url: string, method: string, body?: string): Promise<number> {
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    const response = await fetch(url, { method, headers, body });
    await response.arrayBuffer();
    return response.status;
  }
});
