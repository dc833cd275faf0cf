import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { forThisTest } from '../support/for-this-test.ts';
import { startLocalSystem, untilTextComes, type LocalSystem } from '../support/local-system.ts';
import { newFolder } from '../support/new-folder.ts';

const TIMELINE = '/streams/t/default/agents/assistant/ada/timeline?offset=-1';
const LAST_NUMBER = 400;
const THREE_STARTS_TIMEOUT_MS = 120_000;

const start = async (folder: string): Promise<LocalSystem> =>
  forThisTest(await startLocalSystem(folder));

describe('two local systems on one machine', () => {
  // Restate keeps the address of a deployment. The second system had taken the agents' port of the first one, and the first one's
  // runtime gave its pending step to the agents of the second, which refused it.
  it(
    'do their own work only, also where one has the ports that the other had',
    async () => {
      const folderOfA = forThisTest(await newFolder()).path;
      const folderOfB = forThisTest(await newFolder()).path;
      const first = await start(folderOfA);
      await command(first, '/api/spawn', { type: 'assistant', id: 'ada' });
      await say(first, `count to ${LAST_NUMBER}`);
      await untilInTimeline(first, '"kind":"word"');
      await first.process.stop();

      const { ports } = await readStored(folderOfA);
      await writeFile(join(folderOfB, 'settings.json'), JSON.stringify({ ports }));
      const b = await start(folderOfB);
      expect((await readStored(folderOfB)).ports).toEqual(ports);
      const a = await start(folderOfA);
      expect(a.said).toContainEqual(
        expect.stringContaining(`port ${ports.agents} (agents) is taken`),
      );

      await untilInTimeline(a, '"kind":"reply"');
      const { words, sequence } = await wholeTimeline(a);
      expect(words).toBe(Array.from({ length: LAST_NUMBER }, (_, index) => index + 1).join(' '));
      expect(sequence).toEqual(sequence.map((_, index) => index));
      expect((await b.get(TIMELINE)).status).toBe(404);
      expect(b.said.filter((line) => line.startsWith('agents') && line.includes('ada'))).toEqual(
        [],
      );

      await command(b, '/api/spawn', { type: 'assistant', id: 'ada' });
      await say(b, 'count to 3');
      await untilInTimeline(b, '"kind":"reply"');
      expect((await wholeTimeline(b)).words).toBe('1 2 3');
      expect((await wholeTimeline(a)).sequence).toEqual(sequence);
    },
    THREE_STARTS_TIMEOUT_MS,
  );
});

async function readStored(folder: string): Promise<{ ports: Record<string, number> }> {
  return JSON.parse(await readFile(join(folder, 'settings.json'), 'utf8')) as {
    ports: Record<string, number>;
  };
}

async function command({ baseUrl, apiKey }: LocalSystem, path: string, body: unknown) {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
}

function say(system: LocalSystem, text: string): Promise<void> {
  const message = { kind: 'message', content: [{ type: 'text', text }] };
  return command(system, '/api/a/assistant/ada/send', message);
}

/** Reads the timeline from its beginning until it holds a text. It does not exist before the first append. */
async function untilInTimeline(system: LocalSystem, text: string): Promise<void> {
  let response = await system.get(`${TIMELINE}&live=sse`);
  while (response.status === 404) response = await system.get(`${TIMELINE}&live=sse`);
  await untilTextComes(response, text);
}

interface TimelineEvent {
  seq: number;
  kind: string;
  content?: { text?: string }[];
}

async function wholeTimeline(system: LocalSystem): Promise<{ words?: string; sequence: number[] }> {
  const events = (await (await system.get(TIMELINE)).json()) as TimelineEvent[];
  const reply = events.find(({ kind }) => kind === 'reply');
  return { words: reply?.content?.[0]?.text, sequence: events.map(({ seq }) => seq) };
}
