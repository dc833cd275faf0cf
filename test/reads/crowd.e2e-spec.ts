import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { upTo } from '../support/numbered-events.ts';
import { gatherCrowd } from './crowd.ts';

/** `crowd.heavy-spec.ts` has more of both. */
const READERS = 12;
const EVENTS = 60;
/** The store keeps a timer for so long of each event stream that was broken off. */
const LONG_POLL_MS = 300;
/** It takes two seconds where the machine is not busy. */
const TIMEOUT_MS = 90_000;

describe('a crowd of real clients on one timeline', () => {
  let history: RunningHistory;
  let link: FlakyLink;
  let gateway: TestGateway;
  beforeAll(async () => {
    history = await startHistory({ longPollTimeoutMs: LONG_POLL_MS });
    link = await startFlakyLink(history.port);
    gateway = await startTestGateway({
      GATEWAY_HISTORY_URL: history.url.replace(`:${history.port}`, `:${link.port}`),
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await link?.stop();
    await history?.stop();
  });

  it(
    'sees every event once and in order, whoever leaves, lags, expires or is cut',
    async () => {
      const seen = await gatherCrowd({
        gatewayUrl: gateway.url,
        historyUrl: history.url,
        link,
        readers: READERS,
        events: EVENTS,
        seed: 5,
      });
      const all = upTo(seen[0]?.length ?? 0);
      expect(all.length).toBeGreaterThan(EVENTS);
      for (const seqs of seen) expect(seqs).toEqual(all);
    },
    TIMEOUT_MS,
  );
});
