import { setTimeout as sleep } from 'node:timers/promises';
import { API_KEY, AUTHORIZED } from '../support/credentials.ts';
import { TimelineReader, type NumberedEvent } from '../support/timeline-reader.ts';
import { Appender } from './appender.ts';
import { CatalogReader, RowChanger, catalogRows } from './catalog.ts';
import { Commander } from './commanders.ts';
import { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { Stack } from './stack.ts';
import { commandFaults, readerFaults } from './verdict.ts';
import { VanishingClients } from './vanishing-clients.ts';

const COMMANDERS = 3;
const COMMANDS_PER_SECOND = 3;
const ENTITIES = 4;
const APPENDERS = 2;
const APPENDS_PER_SECOND = 4;
const ROW_CHANGES_PER_SECOND = 2;
const VANISHING_PER_SECOND = 4;
const SETTLE_TIMEOUT_MS = 90_000;
const SETTLE_CHECK_MS = 250;

/** An event of an entity's timeline. */
export interface EntityEvent extends NumberedEvent {
  kind: string;
  content?: { text: string }[];
}

export interface LoadResult {
  commanders: Commander[];
  appenders: Appender[];
  readers: TimelineReader<EntityEvent>[];
  events: number;
  vanished: number;
  rowChanges: number;
  faults: Faults;
  /** Everything that must not be; empty where all is well. */
  failures: string[];
}

/** Puts the whole system under load, waits until it is at rest, and judges the result. */
export async function runLoad(
  stack: Stack,
  random: Random,
  { name, durationMs, withFaults }: { name: string; durationMs: number; withFaults: boolean },
): Promise<LoadResult> {
  const numbered = (count: number, what: string) =>
    Array.from({ length: count }, (_, index) => `${name}-${what}-${index}`);
  const [firstEntity = '', ...otherEntities] = numbered(ENTITIES, 'entity');
  const entities: [string, ...string[]] = [firstEntity, ...otherEntities];
  const commanders = numbered(COMMANDERS, 'commander').map(
    (commander) => new Commander(commander, stack.url, entities, random),
  );
  const streams = numbered(APPENDERS, 'stream').map((stream) => `/t/default/soak/${stream}`);
  const appenders = streams.map((stream) => new Appender(`${stack.url}/streams${stream}`));
  for (const appender of appenders) await appender.create();
  await spawnAll(stack.url, entities);

  const paths = [
    ...entities.map((entity) => `/t/default/agents/echo/${entity}/timeline`),
    ...streams,
  ];
  const readers = paths.flatMap((path) =>
    (['long-poll', 'sse'] as const).map(
      (live) =>
        new TimelineReader<EntityEvent>({
          url: `${stack.url}/streams${path}`,
          apiKey: API_KEY,
          live,
        }),
    ),
  );
  const rowChanger = new RowChanger(stack.catalogUrl, name);
  const catalogReader = new CatalogReader(stack.url, name);
  const ports: [number, number] = [stack.slots[0].port, stack.slots[1].port];
  const vanishing = new VanishingClients(ports, `/streams${paths[0]}`, random);
  const faults = new Faults(stack, random);

  const over = AbortSignal.timeout(durationMs);
  await Promise.all([
    ...commanders.map((commander) => commander.run(COMMANDS_PER_SECOND, over)),
    ...appenders.map((appender) => appender.run(APPENDS_PER_SECOND, over)),
    rowChanger.run(ROW_CHANGES_PER_SECOND, over),
    vanishing.run(VANISHING_PER_SECOND, over),
    withFaults ? faults.run(over) : undefined,
  ]);

  const judge = async (): Promise<string[]> => {
    const timelines = await Promise.all(paths.map((path) => readWhole(stack.historyUrl + path)));
    const rows = await catalogRows(stack.catalogUrl);
    return [
      ...commandFaults(commanders, entities, timelines),
      ...appenders.flatMap(({ written }, index) => {
        const { length } = timelines[ENTITIES + index] ?? [];
        return length === written ? [] : [`${streams[index]}: ${written} written, ${length} there`];
      }),
      ...readers.flatMap((reader, index) =>
        readerFaults(`reader ${index}`, reader, timelines[Math.floor(index / 2)] ?? []),
      ),
      ...(rows.join() === catalogReader.rows().join()
        ? []
        : ['the catalog is not what it was read as']),
      ...catalogReader.steppedBack.map((step) => `the catalog stepped back: ${step}`),
      ...catalogReader.errors.map((error) => `the catalog reader gave up: ${error}`),
      ...[...commanders, ...appenders].flatMap(({ unexpected }) => unexpected),
      ...faults.failures,
      ...(await vanishedFaults(stack.historyUrl)),
    ];
  };
  const failures = await settle(judge);
  await Promise.all(readers.map((reader) => reader.stop()));
  catalogReader.stop();
  return {
    commanders,
    appenders,
    readers,
    events: readers.reduce((sum, { events }) => sum + events.length, 0),
    vanished: vanishing.gone,
    rowChanges: rowChanger.value,
    faults,
    failures,
  };
}

/** Judges again until there are no failures or the time is up, because commands in flight need a while. */
async function settle(judge: () => Promise<string[]>): Promise<string[]> {
  const giveUpAtMs = performance.now() + SETTLE_TIMEOUT_MS;
  for (;;) {
    const failures = await judge();
    if (failures.length === 0 || performance.now() > giveUpAtMs) return failures;
    await sleep(SETTLE_CHECK_MS);
  }
}

async function spawnAll(url: string, entities: readonly string[]): Promise<void> {
  for (const id of entities) {
    const response = await fetch(`${url}/api/spawn`, {
      method: 'POST',
      headers: { ...AUTHORIZED, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'echo', id }),
    });
    if (response.status !== 202) throw new Error(`spawn: ${response.status}`);
  }
}

async function readWhole(url: string): Promise<EntityEvent[]> {
  const response = await fetch(`${url}?offset=-1`);
  if (response.status === 404) {
    await response.arrayBuffer();
    return [];
  }
  return (await response.json()) as EntityEvent[];
}

/** Commands and appends with an incomplete body must have had no effect. */
async function vanishedFaults(historyUrl: string): Promise<string[]> {
  const events = await readWhole(`${historyUrl}/t/default/agents/echo/vanished/timeline`);
  return events.length === 0 ? [] : [`${events.length} events of commands that were never whole`];
}
