import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { Random } from '../soak/random.ts';
import type { Checks } from '../support/checks.ts';
import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startHistoryChild } from '../support/history-child.ts';
import { newTimeline, upTo } from '../support/numbered-events.ts';
import { withParts, type Keep } from '../support/parts.ts';
import { openPage, type TestPage } from './open-page.ts';
import { putChat, type World } from './world.ts';

const TURNS = 40;
const TTL_SECONDS = 1.2;
/** The longest time in milliseconds of a fault, and of the pause before the next one. */
const MAX_MS = 250;
const AGENTS = 7;
/** `FAULTS_SEED` repeats the faults of another run. */
const SEED = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
const random = new Random(SEED);

/** A whole system in which the test can break every part. */
interface Hurt {
  url: string;
  historyUrl: string;
  /** One fault, over when this resolves. */
  disturb(): Promise<void>;
  putAgent(id: string, status: string): Promise<void>;
}

/** Runs the client library in a page. It must lose and repeat nothing while connections, servers and tokens fail. */
export async function checkClientFaults(
  checks: Checks,
  browser: Browser,
  { pages }: World,
): Promise<void> {
  const page = await openPage(browser, pages.origin);
  await withParts(async (keep) => {
    const hurt = await startHurt(pages.origin, keep);
    for (const live of ['sse', 'long-poll'] as const) {
      await checks.check(
        `a timeline by ${live}: each event once, under random faults (seed ${SEED})`,
        () => readTimeline(page, hurt, live),
      );
    }
    await checks.check(
      `the catalog: the rows as they are in the end, under random faults (seed ${SEED})`,
      () => readCatalog(page, hurt),
    );
    await page.close();
  });
}

async function readTimeline(page: TestPage, hurt: Hurt, live: 'sse' | 'long-poll'): Promise<void> {
  const writer = await newTimeline(hurt.historyUrl, `faults-${live}`);
  const prefix = `/streams/t/default/agents/chat/faults-${live}`;
  const name = `faults by ${live}`;
  await page.start(name, {
    url: `${hurt.url}${prefix}/timeline`,
    prefix,
    ttlSeconds: TTL_SECONDS,
    live,
  });
  for (let turn = 0; turn < TURNS; turn++) {
    await Promise.all([hurt.disturb(), writer.append(1 + below(10), below(20_000))]);
  }
  await page.until(name, ({ seqs }, count) => seqs.length >= count, writer.count);
  // One more behind all the faults: what came twice would be here by then.
  await writer.append();
  await page.until(name, ({ seqs }, last) => seqs.at(-1) === last, writer.count - 1);
  await page.stop(name);

  const { seqs, states, minted, error } = await page.read(name);
  assert.deepEqual(seqs, upTo(writer.count));
  assert.equal(error, undefined);
  assert.ok(minted > 1, 'no token ended');
  assert.ok(states.includes('waiting'), 'the page met no fault');
}

async function readCatalog(page: TestPage, hurt: Hurt): Promise<void> {
  const prefix = '/shapes/v1/shape';
  const name = 'faults of the catalog';
  await page.start(name, { url: `${hurt.url}${prefix}`, prefix, ttlSeconds: TTL_SECONDS });
  const expected: Record<string, string> = {};
  for (let turn = 0; turn < TURNS; turn++) {
    const id = `f${turn % AGENTS}`;
    expected[id] = `s${turn}`;
    await hurt.putAgent(id, `s${turn}`);
    await hurt.disturb();
  }
  await page.until(
    name,
    ({ rows }, wanted) =>
      rows.length === Object.keys(wanted).length &&
      rows.every((row) => row['status'] === wanted[String(row['id'])]),
    expected,
  );
  await page.stop(name);

  const { states, minted, error } = await page.read(name);
  assert.equal(error, undefined);
  assert.ok(minted > 1, 'no token ended');
  assert.ok(states.includes('waiting'), 'the page met no fault');
}

async function startHurt(origin: string, keep: Keep): Promise<Hurt> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-client-faults-'));
  await keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const { gatewayPort, catalogPort } = await choosePorts({ gatewayPort: 0, catalogPort: 0 });
  const history = await startHistoryChild();
  await keep(history.process);
  const toHistory = await keep(startFlakyLink(Number(new URL(history.url).port)));
  const beginCatalog = () =>
    startCatalog({ port: catalogPort, databasePath: join(folder, 'catalog.sqlite') });
  let catalog = await beginCatalog();
  await keep({ stop: () => catalog.stop() });
  const beginGateway = () =>
    startGatewayChild({
      env: {
        GATEWAY_PORT: String(gatewayPort),
        GATEWAY_HISTORY_URL: `${toHistory.url}${new URL(history.url).pathname}`,
        GATEWAY_SYNC_URL: catalog.url,
        GATEWAY_CORS_ALLOW_ORIGINS: origin,
      },
    });
  let gateway = await beginGateway();
  await keep({ stop: () => gateway.stop() });
  const toGateway = await keep(startFlakyLink(gatewayPort));
  const faults = [
    ...[toGateway, toHistory].flatMap(linkFaults),
    async () => {
      await gateway.stop();
      gateway = await beginGateway();
    },
    async () => {
      await catalog.stop();
      catalog = await beginCatalog();
    },
  ];
  return {
    url: toGateway.url,
    historyUrl: history.url,
    disturb: async () => {
      await pass(below(MAX_MS));
      await faults[below(faults.length)]!();
    },
    putAgent: (id, status) => putChat(catalog, id, status),
  };
}

/** The faults of a connection: cut, refused for a moment, silent for a moment. */
function linkFaults(link: FlakyLink): (() => Promise<void>)[] {
  return [
    async () => link.cut(),
    async () => {
      link.goDown();
      await pass(below(MAX_MS));
      link.resume();
    },
    async () => {
      link.stall();
      await pass(below(MAX_MS));
      link.resume();
    },
  ];
}

function below(bound: number): number {
  return Math.floor(random.between(0, bound));
}
