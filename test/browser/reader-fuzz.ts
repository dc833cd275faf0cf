import assert from 'node:assert/strict';
import { setTimeout as pass } from 'node:timers/promises';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { Random } from '../soak/random.ts';
import type { Checks } from '../support/checks.ts';
import { startFlakyLink } from '../support/flaky-link.ts';
import { upTo } from '../support/numbered-events.ts';
import { withParts } from '../support/parts.ts';
import { shareOf } from '../support/share.ts';
import { openPage, type TestPage } from './open-page.ts';
import type { Timeline, World } from './world.ts';

const ROUNDS = shareOf(500);
/** They are disturbed at the same time, and share the rounds. */
const PAGES = 4;
/** The longest delay of the network, and the longest pause between two disturbances, in ms. */
const MAX_MS = 400;
const TTL_SECONDS = 300;
/** What a reader may be silent before a wake-up makes it prove its connection, and a bit more. */
const SILENT_MS = 5_100;
/** `FUZZ_SEED` repeats the disturbances of another run. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);

/** A page with a reader of each kind. */
interface ReadingPage {
  page: TestPage;
  cdp: CDPSession;
  random: Random;
  timelines: Record<'sse' | 'long-poll', Timeline>;
  /** The agent whose row changes. */
  agent: string;
}

/** Hides, shows, freezes pages and takes them off the network. Every reader has to come back. */
export async function checkReaderFuzz(
  checks: Checks,
  browser: Browser,
  world: World,
): Promise<void> {
  await checks.check(
    `every reader is live after ${ROUNDS} rounds of hiding, freezing and no network (seed ${SEED})`,
    async () => {
      const pages = Array.from({ length: PAGES }, (_, index) => fuzzPage(browser, world, index));
      await Promise.all(pages);
    },
  );
  await checks.check('a catalog whose program does not load at first is read when it does', () =>
    loadLater(browser, world),
  );
  await checks.check('a reader whose connections died in silence proves a new one when woken', () =>
    comeBackFromSilence(browser, world),
  );
}

async function fuzzPage(browser: Browser, world: World, index: number): Promise<void> {
  const context = await browser.newContext();
  try {
    const reading = await startReading(context, world, index);
    for (let round = index; round < ROUNDS; round += PAGES) {
      const done = await disturb(reading);
      await settle(reading, world, `round ${round}, seed ${SEED}: ${done.join(' ')}`);
    }
    for (const live of ['sse', 'long-poll'] as const) {
      const { seqs, error } = await reading.page.read(live);
      assert.deepEqual(seqs, upTo(reading.timelines[live].writer.count));
      assert.equal(error, undefined);
    }
  } finally {
    await context.close();
  }
}

async function startReading(
  context: BrowserContext,
  world: World,
  index: number,
): Promise<ReadingPage> {
  const opened = await openPage(context, world.pages.origin);
  const cdp = await context.newCDPSession(opened.tab);
  await cdp.send('Network.enable');
  await fakeVisibility(opened.tab);
  const timelines = { sse: await world.newTimeline(1), 'long-poll': await world.newTimeline(1) };
  for (const live of ['sse', 'long-poll'] as const) {
    const { url, prefix } = timelines[live];
    await opened.start(live, { url, prefix, ttlSeconds: TTL_SECONDS, live });
  }
  const prefix = '/shapes/v1/shape';
  const url = `${world.gatewayUrl}${prefix}`;
  await opened.start('catalog', { url, prefix, ttlSeconds: TTL_SECONDS });
  const random = Random.for(String(SEED), index);
  return { page: opened, cdp, random, timelines, agent: `fuzz-${index}` };
}

/** A headless browser shows every page. */
async function fakeVisibility(tab: Page): Promise<void> {
  await tab.evaluate(() => {
    let isHidden = false;
    Object.defineProperty(document, 'hidden', { get: () => isHidden });
    Object.defineProperty(document, 'visibilityState', {
      get: () => (isHidden ? 'hidden' : 'visible'),
    });
    const setHidden = (hidden: boolean): void => {
      if (hidden === isHidden) return;
      isHidden = hidden;
      document.dispatchEvent(new Event('visibilitychange'));
      if (!hidden) dispatchEvent(new Event('focus'));
    };
    Object.assign(globalThis, { setHidden });
  });
}

/** Some disturbances in a row. Returns what was done. */
async function disturb({ page, cdp, random }: ReadingPage): Promise<string[]> {
  const latency = random.whole(0, MAX_MS);
  const done = [`latency=${latency}`];
  await setNetwork(cdp, latency, false);
  for (let left = random.whole(2, 8); left > 0; left--) {
    const act = random.word('hide hide show show freeze offline online');
    const pauseMs = random.whole(0, latency * 1.5 + 10);
    done.push(`${act}+${pauseMs}`);
    if (act === 'hide' || act === 'show') await setHidden(page.tab, act === 'hide');
    else if (act === 'freeze') await freeze(page.tab, cdp, pauseMs);
    else await setNetwork(cdp, latency, act === 'offline');
    await pass(pauseMs);
  }
  await setNetwork(cdp, latency, false);
  await setHidden(page.tab, false);
  return done;
}

/** The browser freezes hidden pages only. */
async function freeze(tab: Page, cdp: CDPSession, ms: number): Promise<void> {
  await setHidden(tab, true);
  await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
  await pass(ms);
  await cdp.send('Page.setWebLifecycleState', { state: 'active' });
}

async function setHidden(tab: Page, hidden: boolean): Promise<void> {
  await tab.evaluate(
    (value) => (globalThis as unknown as { setHidden: (is: boolean) => void }).setHidden(value),
    hidden,
  );
}

async function setNetwork(cdp: CDPSession, latency: number, offline: boolean): Promise<void> {
  const unlimited = { downloadThroughput: -1, uploadThroughput: -1 };
  await cdp.send('Network.emulateNetworkConditions', { offline, latency, ...unlimited });
}

/** Waits until every reader is live and has what is new. */
async function settle(reading: ReadingPage, world: World, what: string): Promise<void> {
  const { page, timelines, agent } = reading;
  try {
    for (const live of ['sse', 'long-poll'] as const) {
      const { writer } = timelines[live];
      await writer.append();
      await page.until(
        live,
        ({ seqs, states }, count) => seqs.length >= count && states.at(-1) === 'live',
        writer.count,
      );
    }
    const status = what.slice(0, 20);
    await world.putAgent(agent, status);
    await page.until(
      'catalog',
      ({ rows, states }, [id, wanted]) =>
        states.at(-1) === 'live' &&
        rows.some((row) => row['id'] === id && row['status'] === wanted),
      [agent, status] as const,
    );
  } catch (cause) {
    throw new Error(what, { cause });
  }
}

/** A page that was offline in its first moment said for good that a module had not come. */
async function loadLater(browser: Browser, world: World): Promise<void> {
  const page = await openPage(browser, world.pages.origin);
  const modules = /@electric-sql.client/;
  await page.tab.route(modules, (route) => route.abort('internetdisconnected'));
  const prefix = '/shapes/v1/shape';
  const url = `${world.gatewayUrl}${prefix}`;
  await page.start('catalog', { url, prefix, ttlSeconds: TTL_SECONDS });
  await page.until('catalog', ({ states }, state) => states.at(-1) === state, 'waiting');
  await page.tab.unroute(modules);
  await page.until('catalog', ({ states }, state) => states.at(-1) === state, 'live');
  assert.equal((await page.read('catalog')).error, undefined);
  await page.close();
}

/** The connections vanish, those that the browser holds idle too: it cannot know. */
async function comeBackFromSilence(browser: Browser, world: World): Promise<void> {
  await withParts(async (keep) => {
    const link = await keep(startFlakyLink(Number(new URL(world.gatewayUrl).port)));
    const page = await openPage(browser, world.pages.origin);
    const { url, prefix, writer } = await world.newTimeline(1);
    const own = url.replace(world.gatewayUrl, link.url);
    const reads = ['sse', 'long-poll'] as const;
    for (const live of reads) {
      await page.start(live, { url: own, prefix, ttlSeconds: TTL_SECONDS, live });
      await page.until(live, ({ states }, state) => states.at(-1) === state, 'live');
    }
    await Promise.all([1, 2, 3].map(() => page.probe(`${link.url}/health`, { mode: 'no-cors' })));
    link.vanish();
    await writer.append();
    await pass(SILENT_MS);
    await page.tab.evaluate(() => dispatchEvent(new Event('online')));
    for (const live of reads) {
      await page.until(live, ({ seqs }, count) => seqs.length >= count, 2);
      assert.deepEqual((await page.read(live)).seqs, [0, 1]);
    }
    await page.close();
  });
}
