import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { upTo } from '../support/numbered-events.ts';
import { gatherCrowd } from './crowd.ts';
import { startCutHistory, type CutHistory } from './cut-history.ts';

/** `crowd.heavy-spec.ts` has more of both. */
const READERS = 12;
const EVENTS = 60;
/** It takes two seconds on an idle machine. */
const TIMEOUT_MS = 90_000;

describe('a crowd of real clients on one timeline', () => {
  let history: CutHistory;
  let gateway: TestGateway;
  beforeAll(async () => {
    history = await startCutHistory();
    gateway = await startTestGateway({
      GATEWAY_HISTORY_URL: history.linkedUrl,
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await history?.stop();
  });

  it(
    'sees every event once and in order, whoever leaves, lags, expires or is cut',
    async () => {
      const seen = await gatherCrowd({
        gatewayUrl: gateway.url,
        historyUrl: history.url,
        link: history.link,
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
