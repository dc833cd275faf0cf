import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { sampleOf, shareOf } from '../support/share.ts';
import { PARTS, TurnWorld, type Part, type TurnEvent } from './turn-world.ts';

const world = new TurnWorld();
beforeAll(() => world.start());
afterAll(() => world.stop());

type Match = (event: TurnEvent) => boolean;
const isKind =
  (kind: string): Match =>
  (event) =>
    event.kind === kind;
const isCall =
  (name: string, state: string): Match =>
  (event) =>
    event.kind === 'tool' && event.name === name && event.state === state;

/** What a turn goes through: text, two calls at once of which one needs a yes, a child, text. */
const PHASES: [string, Match][] = [
  ['the message is there', isKind('message')],
  ['it has begun to speak', isKind('word')],
  ['a call waits for a person', isCall('pay', 'waiting')],
  ['the person has decided', isKind('decision')],
  ['the approved call has run', isCall('pay', 'done')],
  ['the child is asked', (event) => isCall('helper', 'called')(event) && event.url !== undefined],
  ['the child has replied', isCall('helper', 'done')],
];

const FULL_REPLY = 'first second third';
let payments = 100;

/** Checks that a turn did all it had to, each once. */
async function expectWholeTurn(id: string, events: TurnEvent[], amount: number): Promise<void> {
  const words = events.filter(isKind('word')).map(({ text }) => String(text));
  expect(words.join('')).toBe(FULL_REPLY);
  const replies = events.filter(isKind('reply'));
  expect(replies.map(({ content }) => content)).toEqual([[{ type: 'text', text: FULL_REPLY }]]);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  for (const step of [isCall('pay', 'waiting'), isKind('decision'), isCall('pay', 'done')]) {
    expect(events.filter(step)).toHaveLength(1);
  }
  // A tool may run again after a crash, with the same key.
  const keys = world.said.filter((line) => line.startsWith(`paid ${amount} `));
  expect(new Set(keys).size).toBe(1);
  const child = await world.readUntil(`${id}-child`, isKind('reply'));
  expect(child.filter(isKind('message'))).toHaveLength(1);
}

describe('a turn with a yes and a child', () => {
  const table = PHASES.flatMap(([phase, isAt]) =>
    PARTS.map((part) => [part, phase, isAt] as const),
  );

  it.each(sampleOf(table))('is whole where the %s is killed when %s', async (part, phase, isAt) => {
    const id = `kill-${part}-${phase.replaceAll(' ', '-')}`;
    const amount = payments++;
    await world.send(id, `all ${amount} ${id}-child`);
    let isKilled = false;
    const events = await world.readUntil(id, isKind('reply'), async (event) => {
      if (isAt(event) && !isKilled) {
        isKilled = true;
        await world.kill(part);
        await world.begin(part);
      }
      if (isCall('pay', 'waiting')(event)) await world.decide(id, event.id);
    });
    expect(isKilled).toBe(true);
    await expectWholeTurn(id, events, amount);
  });

  it('waits for a person across a restart of everything and a deploy, with the old version gone', async () => {
    const amount = payments++;
    await world.send('patient', `all ${amount} patient-child`);
    const waiting = await world.readUntil('patient', isCall('pay', 'waiting'));
    const deployments = await world.client.deployments.list();
    // A wait holds no invocation. One that is still on its way to it belongs to the old version.
    await world.untilIdle('patient');
    for (const part of PARTS) await world.kill(part);
    for (const part of ['restate', 'store', 'gateway'] as const) await world.begin(part);
    const { port } = await choosePorts({ port: 0 });
    await world.startAgents({ port, version: ' of version 2' });
    await world.register(port);
    for (const { id } of deployments) await world.client.deployments.remove(id, { force: true });
    const before = world.said.length;
    await world.decide('patient', waiting.at(-1)?.id);
    const events = await world.readUntil('patient', isKind('reply'));
    await expectWholeTurn('patient', events, amount);
    const after = world.said.slice(before).filter((line) => line.startsWith('generate'));
    expect(after.length).toBeGreaterThan(0);
    for (const line of after) expect(line).toMatch(/^generate of version 2 /);
    await world.kill('agents');
    await world.begin('agents');
    await world.register();
  });

  it('is whole five hundred times, while parts are killed', async () => {
    // A share of the share: it takes a second for two of them.
    const turns = shareOf(shareOf(500));
    let ended = 0;
    const isOver = () => ended === turns;
    const crashes = (async () => {
      for (let round = 0; !isOver(); round += 1) {
        const part: Part = PARTS[round % PARTS.length] ?? 'agents';
        await world.kill(part);
        await world.begin(part);
        const seen = ended;
        // The next one comes when turns have ended meanwhile.
        while (!isOver() && ended < seen + 12)
          await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    let next = 0;
    const work = async (): Promise<void> => {
      for (let turn = next++; turn < turns; turn = next++) {
        const id = `many-${turn}`;
        const amount = payments++;
        await world.send(id, `all ${amount} ${id}-child`);
        const events = await world.readUntil(id, isKind('reply'), async (event) => {
          if (isCall('pay', 'waiting')(event)) await world.decide(id, event.id);
        });
        await expectWholeTurn(id, events, amount);
        ended += 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, work)).finally(() => (ended = turns));
    await crashes;
  }, 900_000);
});

describe('a restore', () => {
  beforeAll(async () => {
    // Text of one step for each number.
    await world.send('restored-before', 'count 1');
    await world.readUntil('restored-before', isKind('reply'));
  });

  const numbers = (limit: number) =>
    Array.from({ length: limit }, (_, index) => `${index + 1} `).join('');

  it.each(
    sampleOf([
      ['restate', 1],
      ['restate', 10],
      ['restate', 1_000],
      ['store', 1],
      ['store', 10],
      ['store', 1_000],
    ] as const),
  )('of an older %s, by %d events, heals', async (side, count) => {
    const id = `restored-${side}-${count}`;
    await world.send(id, 'count 3');
    await world.readUntil(id, isKind('reply'));
    // Else the kept state would not know of the last event, and the other side would be one more ahead.
    await world.untilIdle(id);
    // What the one side keeps, and the other goes beyond.
    await world.kill('agents');
    await world.kill(side);
    await world.copy(side, 'keep');
    await world.begin(side);
    await world.begin('agents');
    const locate = (_: unknown, n: number) =>
      world.send(id, { kind: 'locate', invocationId: `inv_${n}` });
    await Promise.all(Array.from({ length: count }, locate));
    let seen = 0;
    await world.readUntil(id, (event) => isKind('located')(event) && ++seen === count);
    // Else the agent would not know of the last event, and would send it again.
    await world.untilIdle(id);
    await world.kill('agents');
    await world.kill(side);
    await world.copy(side, 'bring back');
    await world.begin(side);
    await world.begin('agents');

    const { invocationId } = await world.send(id, 'count 5');
    const isOwn: Match = (event) =>
      event.kind === 'reply' && JSON.stringify(event.content).includes(numbers(5));
    const events = await world.readUntil(id, isOwn);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    const message = events.findLast(isKind('message'));
    expect(message).toMatchObject({ invocationId });
    expect(events.at(-1)).toMatchObject({ replyTo: message?.seq });
    const healed = events.filter(isKind('restored'));
    expect(healed).toHaveLength(1);
    const { expected, found } = healed[0] as { expected?: number; found?: number };
    expect(Number(found) - Number(expected)).toBe(side === 'restate' ? count : -count);
    // And it goes on as if nothing had been.
    await world.send(id, 'count 2');
    const more = await world.readUntil(
      id,
      (event) => isKind('reply')(event) && event.seq > Number(events.at(-1)?.seq),
    );
    expect(more.filter(isKind('restored'))).toHaveLength(1);
  });

  it('of Restate answers a message that waited, and not one whose reply is there', async () => {
    const id = 'restored-waiting';
    const { invocationId } = await world.send(id, 'count 3');
    await world.readUntil(id, isKind('message'));
    await world.kill('agents');
    await world.kill('restate');
    await world.copy('restate', 'keep');
    await world.begin('restate');
    await world.begin('agents');
    await world.readUntil(id, isKind('reply'));
    await world.kill('agents');
    await world.kill('restate');
    await world.copy('restate', 'bring back');
    await world.begin('restate');
    await world.begin('agents');
    await world.send(id, 'count 4');
    const events = await world.readUntil(
      id,
      (event) => isKind('reply')(event) && JSON.stringify(event.content).includes(numbers(4)),
    );
    expect(events.filter((event) => event.invocationId === invocationId)).toHaveLength(1);
    expect(events.filter(isKind('reply'))).toHaveLength(2);
  });
});
