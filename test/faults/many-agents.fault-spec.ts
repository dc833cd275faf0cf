import { beforeAll, describe, expect, it } from '@jest/globals';
import { AgentGateway, type TimelineEvent } from '../../packages/client/src/index.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startLocalSystem, type LocalSystem } from '../support/local-system.ts';
import { newFolder } from '../support/new-folder.ts';
import { shareOf } from '../support/share.ts';

const AGENTS = shareOf(1_000);
const AT_ONCE = 50;
const TYPES = ['assistant', 'echo'] as const;
/** Only a hang takes this long. Two cores need half a minute for all. */
const HANG_MS = 300_000;

describe('many agents of the local system', () => {
  const folder = forAllTests(newFolder);
  const system = forAllTests(() => startLocalSystem(folder.path));
  let gateway: AgentGateway;

  beforeAll(() => {
    gateway = new AgentGateway({ url: system.baseUrl, apiKey: system.apiKey });
  });

  // Of 300 that were spawned ten at a time up to 71 lost their timeline, and some wrote `"seq":0` twice.
  it(
    'spawned fifty at a time, have each a whole timeline and a row',
    async () => {
      const agents = Array.from(
        { length: AGENTS },
        (_, index) => `${TYPES[index % TYPES.length]}/many-${index}`,
      );
      await eachOf(agents, async (agent) => {
        await gateway.agents.spawn({ type: agent.split('/')[0]!, id: agent.split('/')[1] });
        await gateway.agents.send(agent, 'count to 3');
      });
      const faults: string[] = [];
      await eachOf(agents, async (agent) => {
        const events = await untilReply(gateway, agent);
        if (!isWhole(agent, events)) faults.push(`${agent}: ${JSON.stringify(events)}`);
      });

      expect(faults).toEqual([]);
      const urls = agents.map((agent) => `/t/default/a/${agent}`).toSorted();
      expect((await catalogUrls(system)).toSorted()).toEqual(urls);
    },
    HANG_MS,
  );
});

/** Runs the task for each item, fifty at a time. */
async function eachOf<T>(items: T[], task: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function untilReply(gateway: AgentGateway, agent: string): Promise<TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  for await (const event of gateway.timeline(agent)) {
    events.push(event);
    if (event.kind === 'reply') break;
  }
  return events;
}

/** Checks that the timeline reaches from the spawn to the reply, with each number once and in order. */
function isWhole(agent: string, events: TimelineEvent[]): boolean {
  const kinds = agent.startsWith('echo/')
    ? ['spawned', 'message', 'reply']
    : ['spawned', 'message', 'word', 'reply'];
  return (
    JSON.stringify([...new Set(events.map(({ kind }) => kind))]) === JSON.stringify(kinds) &&
    events.every(({ seq }, index) => seq === index)
  );
}

async function catalogUrls({ get }: LocalSystem): Promise<string[]> {
  const response = await get('/shapes/v1/shape?table=entities&offset=-1');
  const messages = (await response.json()) as { value?: { url: string } }[];
  return messages.flatMap(({ value }) => (value ? [value.url] : []));
}
