import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Random } from '../soak/random.ts';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline, upTo } from '../support/numbered-events.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { CrowdReader } from './crowd-reader.ts';
import { MODES } from './sharing-gateway.ts';

const READERS = 30;
const EVENTS = 300;
const MAX_EVENT_BYTES = 20_000;
const MAX_PAUSE_MS = 20;
/** The store keeps a timer this long for each event stream that was cut. */
const LONG_POLL_MS = 300;

/**
 * Readers of one timeline that come and go, some of them slow, with tokens that end all the time, before a store whose
 * connections break.
 */
describe.each(MODES)('a large crowd of real clients, their reads $mode,', ({ isShared }) => {
  it('sees every event once and in order, whoever leaves, lags, expires or is cut', async () => {
    // The faults are the same ones for the same seed, but for their timing.
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stdout.write(`seed ${seed}\n`);
    const random = new Random(seed);
    const history = forThisTest(await startHistory({ longPollTimeoutMs: LONG_POLL_MS }));
    const link = forThisTest(await startFlakyLink(history.port));
    const gateway = forThisTest(
      await startGatewayChild({
        env: {
          GATEWAY_HISTORY_URL: history.url.replace(`:${history.port}`, `:${link.port}`),
          GATEWAY_SHARED_READS: String(isShared),
        },
      }),
    );
    const writer = await newTimeline(history.url, 'crowd');
    const url = `${gateway.url}/streams/t/default/agents/chat/crowd/timeline`;
    const readers = Array.from({ length: READERS }, (_, index) => newReader(url, index, random));
    const untilAllHaveAll = (): Promise<unknown> =>
      Promise.all(readers.map(({ received }) => received.until(writer.count)));
    const faults = new AbortController();
    const cutting = cutAtTimes(link, random, faults.signal);
    while (writer.count < EVENTS) {
      const bytes = random.next() < 0.1 ? random.between(0, MAX_EVENT_BYTES) : 10;
      await writer.append(Math.ceil(random.between(0, 3)), Math.floor(bytes));
      await sleep(random.between(0, MAX_PAUSE_MS));
    }
    faults.abort();
    await cutting;
    await untilAllHaveAll();
    // One more, which has to come next: nothing may come twice before it.
    await writer.append();
    await untilAllHaveAll();
    await Promise.all(readers.map((reader) => reader.stop()));
    expect(writer.count).toBeGreaterThan(EVENTS);
    for (const { received } of readers) expect(received.seqs).toEqual(upTo(writer.count));
  });
});

function newReader(url: string, index: number, random: Random): CrowdReader {
  return new CrowdReader({
    url,
    live: index % 2 === 0 ? 'sse' : 'long-poll',
    mintToken: (ttlSeconds) => mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds }),
    ttlSeconds: random.between(0.5, 4),
    random,
    slownessMs: index % 5 === 0 ? 50 : 0,
    maxStayMs: index % 3 === 0 ? 400 : 5_000,
  });
}

/** Cuts all connections, or stops the store for a moment. */
async function cutAtTimes(link: FlakyLink, random: Random, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    await sleep(random.between(50, 400));
    if (random.next() < 0.7) {
      link.cut();
      continue;
    }
    link.goDown();
    await sleep(random.between(10, 100));
    link.resume();
  }
}
