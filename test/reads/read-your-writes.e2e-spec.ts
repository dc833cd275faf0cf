import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { startCollapsingProxy, type JoinUntil } from './collapsing-proxy.ts';
import { startLaggingLink, type LaggingLink } from './lagging-link.ts';
import { readWrites, type Workload } from './read-your-writes.ts';
import { MODES } from './sharing-gateway.ts';

/** `read-your-writes.heavy-spec.ts` repeats it a hundred thousand times. */
const READS = 400;
const MAX_LAG_MS = 20;

describe('a read behind an acknowledged append', () => {
  let history: RunningHistory;
  let link: LaggingLink;
  beforeAll(async () => {
    history = await startHistory();
    link = await startLaggingLink(history.port, MAX_LAG_MS);
  });
  afterAll(async () => {
    await link?.stop();
    await history?.stop();
  });

  const laggingUrl = (): string => history.url.replace(`:${history.port}`, `:${link.port}`);
  const workload = (readUrl: string): Workload => ({
    readUrl,
    writeUrl: history.url,
    headers: AUTHORIZED,
    timelines: 4,
    reads: READS,
    readersBeside: 3,
  });

  it.each(MODES)('brings it, in reads that are $mode', async ({ isShared }) => {
    const gateway: TestGateway = await startTestGateway({
      GATEWAY_HISTORY_URL: laggingUrl(),
      GATEWAY_SHARED_READS: String(isShared),
    });
    const outcome = await readWrites(workload(`${gateway.url}/streams`));
    await gateway.stop();
    expect(outcome.stale).toEqual([]);
    expect(outcome.reads).toBeGreaterThanOrEqual(READS);
    // Not the same few answers over and over.
    expect(outcome.appends).toBeGreaterThan(READS / 10);
  });

  // Else the test above would hold for any sharing at all.
  it.each<JoinUntil>(['answer is there', 'answer has begun'])(
    'is seen to be stale where reads join what is under way until the %s',
    async (joinUntil) => {
      const proxy = await startCollapsingProxy(laggingUrl(), joinUntil);
      const outcome = await readWrites({
        ...workload(proxy.url),
        reads: 50 * READS,
        endsAtStale: true,
      });
      await proxy.stop();
      expect(outcome.stale).not.toEqual([]);
    },
  );
});
