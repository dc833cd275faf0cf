import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { shareOf } from '../support/share.ts';
import { readWrites } from './read-your-writes.ts';

const READS = shareOf(100_000);

describe(`${READS} reads behind acknowledged appends`, () => {
  let history: RunningHistory;
  let gateway: GatewayChild;
  beforeAll(async () => {
    history = await startHistory();
    gateway = await startGatewayChild({ env: { GATEWAY_HISTORY_URL: history.url } });
  });
  afterAll(async () => {
    await gateway?.stop();
    await history?.stop();
  });

  it('bring them all, whoever asks for the same at the same time', async () => {
    const outcome = await readWrites({
      readUrl: `${gateway.url}/streams`,
      writeUrl: history.url,
      headers: AUTHORIZED,
      timelines: 8,
      reads: READS,
      readersBeside: 3,
    });
    expect(outcome.stale).toEqual([]);
    expect(outcome.reads).toBeGreaterThanOrEqual(READS);
    // Not the same few answers over and over.
    expect(outcome.appends).toBeGreaterThan(READS / 10);
    process.stdout.write(`${outcome.appends} appends, ${outcome.reads} reads\n`);
  });
});
