import { setTimeout as sleep } from 'node:timers/promises';
import { API_KEY, AUTHORIZED } from '../support/credentials.ts';
import { TimelineReader, type NumberedEvent } from '../support/timeline-reader.ts';
import { CatalogReader, RowChanger, catalogRows } from './catalog.ts';
import { FaultRecord, inflictFaults } from './faults.ts';
import type { Random } from './random.ts';
import { Answers, appendEvents, sendCommands, type SentCommand } from './requests.ts';
import type { Stack } from './stack.ts';
import { vanish } from './vanishing-clients.ts';

const ROW_CHANGES_PER_SECOND = 2;
const SETTLE_TIMEOUT_MS = 90_000;
const SETTLE_CHECK_MS = 250;

/** An event of an entity's timeline. */
interface EntityEvent extends NumberedEvent {
  kind: string;
  content?: { text: string }[];
}

/** What a load has done to the system, and what must not be. */
export type LoadResult = Awaited<ReturnType<typeof runLoad>>;

/** Puts the whole system under load, waits until it is at rest, and judges the result. */
export async function runLoad(
  stack: Stack,
  random: Random,
  { name, durationMs, withFaults }: { name: string; durationMs: number; withFaults: boolean },
) {
  const entities = [`${name}-1`, `${name}-2`, `${name}-3`, `${name}-4`] as const;
  const streams = [`/t/default/soak/${name}-1`, `/t/default/soak/${name}-2`];
  for (const id of entities) {
    await create(`${stack.url}/api/spawn`, 'POST', JSON.stringify({ type: 'echo', id }));
  }
  for (const stream of streams) await create(`${stack.url}/streams${stream}`, 'PUT');
  const paths = [...entities.map(timelineOf), ...streams];
  const readers = paths.flatMap((path) =>
    (['long-poll', 'sse'] as const).map((live) => {
      const url = `${stack.url}/streams${path}`;
      return { path, reader: new TimelineReader<EntityEvent>({ url, apiKey: API_KEY, live }) };
    }),
  );
  const rowChanger = new RowChanger(stack.catalogUrl, name);
  const catalogReader = new CatalogReader(stack.url, name);
  const ports: [number, number] = [stack.staying.port, stack.replaced.port];
  const commandAnswers = new Answers(202);
  const appendAnswers = new Answers(200, 204);

  const over = AbortSignal.timeout(durationMs);
  const [commands, written, vanished, faults] = await Promise.all([
    sendCommands(stack.url, entities, random, commandAnswers, over),
    Promise.all(
      streams.map((stream) => appendEvents(`${stack.url}/streams${stream}`, appendAnswers, over)),
    ),
    vanish(ports, `/streams${paths[0]}`, random, over),
    withFaults ? inflictFaults(stack, random, over) : new FaultRecord(),
    rowChanger.run(ROW_CHANGES_PER_SECOND, over),
  ]);

  const judge = async (): Promise<string[]> => {
    const whole = new Map<string, EntityEvent[]>();
    for (const path of paths) whole.set(path, await readWhole(stack.historyUrl + path));
    const ofVanished = await readWhole(stack.historyUrl + timelineOf('vanished'));
    const rows = await catalogRows(stack.catalogUrl);
    return [
      ...commandFaults(commands, whole),
      ...streams.flatMap((stream, index) =>
        differences(stream, written[index]!, 'written', whole.get(stream)!),
      ),
      ...readers.flatMap(({ path, reader: { events, faults: ofRead } }) => [
        ...ofRead.gaps.map((gap) => `${path}: gap, ${gap}`),
        ...ofRead.repeats.map((repeat) => `${path}: repeat, ${repeat}`),
        ...differences(path, events.length, 'read', whole.get(path)!),
      ]),
      ...(rows.join() === catalogReader.rows().join()
        ? []
        : ['the catalog is not what it was read as']),
      ...catalogReader.steppedBack.map((step) => `the catalog stepped back: ${step}`),
      ...catalogReader.errors.map((error) => `the catalog reader gave up: ${error}`),
      ...commandAnswers.unexpected,
      ...appendAnswers.unexpected,
      ...faults.failures,
      // Commands with an incomplete body must have had no effect.
      ...differences('commands that were never whole', 0, 'expected', ofVanished),
    ];
  };
  const failures = await settle(judge);
  await Promise.all(readers.map(({ reader }) => reader.stop()));
  catalogReader.stop();
  return {
    commands,
    commandAnswers,
    appended: written,
    appendAnswers,
    readers: readers.map(({ reader }) => reader),
    vanished,
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

/**
 * Every accepted command has exactly one message and one reply on its entity's timeline; one that
 * was never accepted has none, or one of each, for its answer may have been lost on the way.
 */
function commandFaults(
  commands: SentCommand[],
  whole: ReadonlyMap<string, EntityEvent[]>,
): string[] {
  const effects = new Map<string, number>();
  for (const [path, events] of whole) {
    for (const { kind, content } of events) {
      const key = `${path} ${kind} ${content?.[0]?.text}`;
      effects.set(key, (effects.get(key) ?? 0) + 1);
    }
  }
  return commands.flatMap(({ entity, text, isAccepted }) =>
    ['message', 'reply'].flatMap((kind) => {
      const count = effects.get(`${timelineOf(entity)} ${kind} ${text}`) ?? 0;
      const isRight = isAccepted ? count === 1 : count <= 1;
      return isRight ? [] : [`${text} (accepted: ${isAccepted}) has ${count} of "${kind}"`];
    }),
  );
}

function timelineOf(entity: string): string {
  return `/t/default/agents/echo/${entity}/timeline`;
}

/** What there is to say where so many events are not those that are there. */
function differences(what: string, count: number, done: string, there: EntityEvent[]): string[] {
  return count === there.length ? [] : [`${what}: ${count} ${done}, ${there.length} there`];
}

async function create(url: string, method: string, body?: string): Promise<void> {
  const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body });
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status}`);
  await response.arrayBuffer();
}

async function readWhole(url: string): Promise<EntityEvent[]> {
  const response = await fetch(`${url}?offset=-1`);
  const text = await response.text();
  return response.status === 404 ? [] : (JSON.parse(text) as EntityEvent[]);
}
