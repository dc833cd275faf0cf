import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../soak/random.ts';
import { READ_TOKEN_SECRET } from '../support/credentials.ts';
import type { FlakyLink } from '../support/flaky-link.ts';
import { EventWriter } from '../support/numbered-events.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { CrowdReader } from './crowd-reader.ts';

export interface CrowdOptions {
  gatewayUrl: string;
  /** Of the history store itself. */
  historyUrl: string;
  /** Between gateway and store, to be cut. */
  link: FlakyLink;
  readers: number;
  events: number;
  /** What the faults are drawn from: the same ones for the same seed, but for their timing. */
  seed: number;
}

const PATH = '/t/default/agents/chat/crowd/timeline';
const MAX_EVENT_BYTES = 20_000;
const MAX_PAUSE_MS = 20;

/**
 * Readers of one timeline that come and go, some of them slow, with tokens that end all the time,
 * before a store whose connections break. Resolves with what each was given, in the order it came.
 */
export async function gatherCrowd(options: CrowdOptions): Promise<number[][]> {
  const random = new Random(options.seed);
  const writer = new EventWriter(`${options.historyUrl}${PATH}`);
  await writer.create();
  const readers = Array.from({ length: options.readers }, (_, index) =>
    newReader(options.gatewayUrl, index, random),
  );
  const faults = new AbortController();
  const cutting = cutAtTimes(options.link, random, faults.signal);
  while (writer.count < options.events) {
    const bytes = random.next() < 0.1 ? random.between(0, MAX_EVENT_BYTES) : 10;
    await writer.append(Math.ceil(random.between(0, 3)), Math.floor(bytes));
    await sleep(random.between(0, MAX_PAUSE_MS));
  }
  faults.abort();
  await cutting;
  await Promise.all(readers.map((reader) => reader.received.until(writer.count)));
  // One more, which has to come next: nothing may come twice before it.
  await writer.append();
  await Promise.all(readers.map((reader) => reader.received.until(writer.count)));
  await Promise.all(readers.map((reader) => reader.stop()));
  return readers.map(({ received }) => received.seqs);
}

function newReader(gatewayUrl: string, index: number, random: Random): CrowdReader {
  return new CrowdReader({
    url: `${gatewayUrl}/streams${PATH}`,
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
