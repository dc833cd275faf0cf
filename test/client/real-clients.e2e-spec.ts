import { setInterval } from 'node:timers/promises';
import { FetchError, stream } from '@durable-streams/client';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline, upTo, type NumberedEvent } from '../support/numbered-events.ts';
import { ReadToken } from '../support/read-token.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { TimelineReader } from '../support/timeline-reader.ts';
import { until } from '../support/until.ts';
import { watchedFetch } from '../support/watched-fetch.ts';

const AGENTS = '/streams/t/default/agents/chat';
/** Longer than a second, because the client stops after three event streams that were shorter. */
const TTL_SECONDS = { 'long-poll': 0.6, sse: 1.1 };

// Longer than a token, and short enough that no long-poll keeps the worker from its end.
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 5_000 }));
const proxy = forAllTests(() => startCuttingProxy(history.url));
const gateway = forAllTests(() => startTestGateway({ GATEWAY_HISTORY_URL: proxy.url }));

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

let timelines = 0;

/** Creates an agent's timeline with this many events. */
async function newAgent(count: number) {
  const agent = `a${timelines++}`;
  const writer = await newTimeline(history.url, agent, count);
  const prefix = `${AGENTS}/${agent}`;
  return { prefix, url: `${gateway.url}${prefix}/timeline`, writer };
}

/** Follows a timeline as `docs/browser.md` says, with the unmodified client. Each token is used until it expires. */
function follow(url: string, live: 'long-poll' | 'sse', prefix: string, ttlSeconds = 60) {
  let minted = 0;
  const token = new ReadToken(async () => {
    minted += 1;
    return { token: await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds }), ttlSeconds };
  }, 0);
  const watched = watchedFetch();
  const reader = new TimelineReader<NumberedEvent>({
    url,
    live,
    authorization: () => token.authorization(),
    fetch: watched.fetch,
  });
  stops.push(() => reader.stop());
  return { reader, watched, minted: () => minted };
}

const seqsOf = ({ events }: TimelineReader<NumberedEvent>) => events.map(({ seq }) => seq);

describe.each(['long-poll', 'sse'] as const)('the Durable Streams client, live by %s,', (live) => {
  it('catches up, goes live and outlives its tokens, with every event once', async () => {
    const { prefix, url, writer } = await newAgent(3);
    const { reader, watched, minted } = follow(url, live, prefix, TTL_SECONDS[live]);
    await reader.until(3);
    await writer.append();
    await reader.until(4);
    for (let renewals = 1; renewals <= 2; renewals += 1) {
      // A parked long-poll is answered 401; an event stream ends, and the client opens another.
      await watched.next(({ url: { searchParams }, status }) =>
        live === 'sse' ? searchParams.get('live') === 'sse' : status === 401,
      );
      await writer.append(2);
      await reader.until(writer.count);
    }

    expect(seqsOf(reader)).toEqual(upTo(8));
    expect(minted()).toBeGreaterThanOrEqual(3);
    expect(new Set(watched.statuses())).toEqual(new Set(live === 'sse' ? [200] : [200, 401]));
  });

  it('loses and repeats nothing where tokens end while events keep coming', async () => {
    const { prefix, url, writer } = await newAgent(1);
    const { reader, minted } = follow(url, live, prefix, TTL_SECONDS[live]);
    // Event streams last longer here, and a machine's time for tests does not.
    const renewals = live === 'sse' ? 2 : 4;
    for await (const _ of setInterval(5)) {
      await writer.append();
      if (minted() === renewals) break;
    }
    await reader.until(writer.count);

    expect(seqsOf(reader)).toEqual(upTo(writer.count));
  });

  it('asks again by itself while the gateway answers 502, and continues where it was', async () => {
    const { prefix, url, writer } = await newAgent(2);
    const { reader, watched } = follow(url, live, prefix);
    await reader.until(2);

    const failed = watched.next(({ status }) => status === 502);
    proxy.refuse();
    await failed;
    await writer.append(2);
    proxy.restore();
    await reader.until(4);

    expect(seqsOf(reader)).toEqual(upTo(4));
  });

  it('takes a catch-up that breaks off for no whole one, and reads it again', async () => {
    const { prefix, url, writer } = await newAgent(1);
    await writer.append(200, 1_000);
    const cut = proxy.cutAfter(100_000);

    const { reader, watched } = follow(url, live, prefix);
    await cut;
    await reader.until(201);

    expect(seqsOf(reader)).toEqual(upTo(201));
    expect(watched.statuses().slice(0, 2)).toEqual([200, 200]);
  });

  it('takes a live event that breaks off for no whole one, and reads it again', async () => {
    const { prefix, url, writer } = await newAgent(1);
    const { reader, watched } = follow(url, live, prefix);
    await reader.until(1);
    // Proof that the live read is there: it gets this event.
    await writer.append();
    await reader.until(2);

    const again = watched.next(({ status }) => status === 200);
    const cut = proxy.cutAfter(50_000);
    await writer.append(1, 200_000);
    await cut;
    await again;
    await writer.append();
    await reader.until(4);

    expect(seqsOf(reader)).toEqual(upTo(4));
  });

  it('rejects with the 401 of a token that is not renewed, without a call of onError', async () => {
    const { prefix, url } = await newAgent(1);
    const ttlSeconds = TTL_SECONDS[live];
    const stale = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds });
    const errors: Error[] = [];

    const read = await stream({
      url,
      live,
      headers: { Authorization: `Bearer ${stale}` },
      onError: (error) => void errors.push(error),
    });
    read.subscribeJson(() => undefined);

    await expect(read.closed).rejects.toMatchObject({ name: 'FetchError', status: 401 });
    expect(errors).toEqual([]);
  });

  it('lets onError answer a 401 of the first request with a fresh token', async () => {
    const { prefix, url } = await newAgent(2);
    const expired = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: -5 });
    const fresh = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 60 });
    const refused = Promise.withResolvers<FetchError>();
    const seqs: number[] = [];
    // Only the signal ends its reconnecting, too: `cancel` alone left it to try for ever.
    const stopped = new AbortController();

    const read = await stream<NumberedEvent>({
      url,
      live,
      signal: stopped.signal,
      headers: { Authorization: `Bearer ${expired}` },
      onError: (error) => {
        refused.resolve(error as FetchError);
        return { headers: { Authorization: `Bearer ${fresh}` } };
      },
    });
    read.subscribeJson(({ items }) => void seqs.push(...items.map(({ seq }) => seq)));
    await until('both events come', () => seqs.length === 2);
    stopped.abort();

    const { status, text } = await refused.promise;
    expect([status, (JSON.parse(text ?? '') as { code: string }).code]).toEqual([
      401,
      'token_expired',
    ]);
    expect(seqs).toEqual([0, 1]);
  });

  it('stops at a 403 at once: another token of the same kind would not help', async () => {
    const { url } = await newAgent(1);
    const other = { prefix: `${AGENTS}/somebody-else`, ttlSeconds: 60 };
    const authorization = `Bearer ${await mintReadToken(READ_TOKEN_SECRET, other)}`;
    const watched = watchedFetch();

    const read = stream({ url, live, headers: { authorization }, fetch: watched.fetch });

    await expect(read).rejects.toMatchObject({
      name: 'FetchError',
      status: 403,
      text: expect.stringContaining('"code":"prefix_not_covered"'),
    });
    expect(watched.statuses()).toEqual([403]);
  });
});
