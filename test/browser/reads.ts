import assert from 'node:assert/strict';
import { setInterval } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import type { Checks } from '../support/checks.ts';
import { upTo } from '../support/numbered-events.ts';
import { openPage, type TestPage } from './open-page.ts';
import type { World } from './world.ts';

const TTL_SECONDS = 1.2;
/** The client renews a token at half its life. A machine must be busy for three seconds to send one that is over. */
const EVENT_STREAM_TTL_SECONDS = 6;
/** Longer than a check takes on any machine. */
const LONG_TTL_SECONDS = 3_600;

/** Checks that a page with a read token follows live with both clients, also after its tokens have expired. */
export async function checkReads(checks: Checks, browser: Browser, world: World): Promise<void> {
  const page = await openPage(browser, world.pages.origin);
  for (const live of ['long-poll', 'sse'] as const) {
    await checks.check(`a timeline by ${live}: catches up, goes live, outlives its tokens`, () =>
      outliveTokens(page, world, live),
    );
    await checks.check(`a timeline by ${live}: a cut in mid-body loses and repeats nothing`, () =>
      surviveCut(page, world, live),
    );
    await checks.check(`a timeline by ${live}: a 502 is waited out, and the read continues`, () =>
      waitOutOutage(page, world, live),
    );
  }
  await checks.check('the catalog: catches up, goes live, outlives its tokens', () =>
    followCatalog(page, world),
  );
  await page.close();
}

async function outliveTokens(page: TestPage, world: World, live: 'long-poll' | 'sse') {
  const { prefix, url, writer } = await world.newTimeline(3);
  const name = `tokens by ${live}`;
  const ttlSeconds = live === 'sse' ? EVENT_STREAM_TTL_SECONDS : TTL_SECONDS;
  await page.start(name, { url, prefix, ttlSeconds, live });
  await page.until(name, ({ seqs }, count) => seqs.length >= count, 3);
  const appending = setInterval(20);
  for await (const _ of appending) {
    await writer.append();
    // The time comes from Node, and the page continues to read in the meantime.
    if ((await page.read(name)).minted >= 2) break;
  }
  // Now quiet, so that the token ends while the read is parked.
  await page.until(name, ({ minted }, count) => minted >= count, 3);
  // Long-poll answers 204 while nothing comes; a parked one ends with the 401 that script can see.
  if (live === 'long-poll') {
    await page.until(name, ({ statuses }, status) => statuses.includes(status), 401);
  }
  await writer.append(2);
  await page.until(name, ({ seqs }, count) => seqs.length >= count, writer.count);
  await page.stop(name);

  const { seqs, statuses } = await page.read(name);
  assert.deepEqual(seqs, upTo(writer.count));
  if (live === 'sse') assert.deepEqual([...new Set(statuses)], [200]);
}

async function surviveCut(page: TestPage, world: World, live: 'long-poll' | 'sse') {
  const { prefix, url, writer } = await world.newTimeline(1);
  await writer.append(200, 1_000);
  const cut = world.historyProxy.cutAfter(60_000);
  const name = `cut by ${live}`;
  await page.start(name, { url, prefix, ttlSeconds: LONG_TTL_SECONDS, live });
  await cut;
  await page.until(name, ({ seqs }, count) => seqs.length >= count, writer.count);
  await page.stop(name);

  assert.deepEqual((await page.read(name)).seqs, upTo(writer.count));
}

async function waitOutOutage(page: TestPage, world: World, live: 'long-poll' | 'sse') {
  const { prefix, url, writer } = await world.newTimeline(1);
  const name = `outage by ${live}`;
  await page.start(name, { url, prefix, ttlSeconds: LONG_TTL_SECONDS, live });
  await page.until(name, ({ seqs }, count) => seqs.length >= count, 1);
  world.historyProxy.refuse();
  await page.until(name, ({ statuses }, status) => statuses.includes(status), 502);
  await writer.append(2);
  world.historyProxy.restore();
  await page.until(name, ({ seqs }, count) => seqs.length >= count, 3);
  await page.stop(name);

  assert.deepEqual((await page.read(name)).seqs, upTo(3));
}

async function followCatalog(page: TestPage, world: World) {
  await world.putAgent('one', 'idle');
  const prefix = '/shapes/v1/shape';
  const name = 'catalog';
  await page.start(name, { url: `${world.gatewayUrl}${prefix}`, prefix, ttlSeconds: TTL_SECONDS });
  await page.until(name, ({ rows }, count) => rows.length === count, 1);
  await world.putAgent('two', 'idle');
  await page.until(name, ({ rows }, count) => rows.length === count, 2);
  await page.until(name, ({ minted }, count) => minted >= count, 3);
  await world.putAgent('two', 'running');
  await page.until(
    name,
    ({ rows }, status) => rows.some((row) => row['status'] === status),
    'running',
  );
  await page.stop(name);

  const { rows, statuses, error } = await page.read(name);
  assert.deepEqual(Object.fromEntries(rows.map(({ id, status }) => [id, status])), {
    one: 'idle',
    two: 'running',
  });
  // The client renews a token before its end. Only on a busy machine one ends first.
  assert.deepEqual(new Set(statuses.filter((status) => status !== 401)), new Set([200]));
  assert.equal(error, undefined);
}
