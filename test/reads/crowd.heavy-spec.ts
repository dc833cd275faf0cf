import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { upTo } from '../support/numbered-events.ts';
import { gatherCrowd } from './crowd.ts';
import { startCutHistory, type CutHistory } from './cut-history.ts';
import { MODES } from './sharing-gateway.ts';

const READERS = 30;
const EVENTS = 300;

describe.each(MODES)('a large crowd of real clients, their reads $mode,', ({ isShared }) => {
  let history: CutHistory;
  let gateway: GatewayChild;
  beforeAll(async () => {
    history = await startCutHistory();
    gateway = await startGatewayChild({
      env: {
        GATEWAY_HISTORY_URL: history.linkedUrl,
        GATEWAY_SHARED_READS: String(isShared),
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await history?.stop();
  });

  it('sees every event once and in order, whoever leaves, lags, expires or is cut', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stdout.write(`seed ${seed}\n`);
    const seen = await gatherCrowd({
      gatewayUrl: gateway.url,
      historyUrl: history.url,
      link: history.link,
      readers: READERS,
      events: EVENTS,
      seed,
    });
    const all = upTo(seen[0]?.length ?? 0);
    expect(all.length).toBeGreaterThan(EVENTS);
    for (const seqs of seen) expect(seqs).toEqual(all);
  });
});
