import { describe, expect, it } from '@jest/globals';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startLocalSystem } from '../support/local-system.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';

interface Event {
  seq: number;
  kind: string;
  content?: { text?: string }[];
}

const TIMELINE = '/streams/t/default/agents/assistant/ada/timeline?offset=-1';

const byText = (a: string, b: string): number => a.localeCompare(b);

/** Each start of a part on a busy machine is slow. */
const TIMEOUT_MS = 240_000;

describe('npm run local -- --cluster', () => {
  const folder = forAllTests(newFolder);
  const system = forAllTests(() => startLocalSystem(folder.path, '--cluster'));

  it('says which processes to kill, and how to name this system', () => {
    expect(system.said).toContain('This is a cluster. Kill any one of its processes, and look:');
    expect(system.printed(/^\((npm run local -- --cluster --env) prints it again/)).toBeTruthy();
  });

  it(
    'answers each message once, whichever of its processes is killed',
    async () => {
      const gateway = new AgentGateway({ url: system.baseUrl, apiKey: system.apiKey });
      await gateway.agents.spawn({ type: 'assistant', id: 'ada' });
      const sent: string[] = [];
      const say = async (): Promise<void> => {
        const text = `count to ${sent.length + 2}`;
        sent.push(text);
        await gateway.agents.send('assistant/ada', {
          kind: 'message',
          content: [{ type: 'text', text }],
        });
      };
      for (const part of ['restate-1', 'gateway-2', 'history', 'agents', 'restate-2']) {
        await say();
        const pid = system.partPid(part);
        process.kill(-pid, 'SIGKILL');
        // While it is away.
        await say();
        await until(`${part} is back`, () => system.partPid(part) !== pid);
      }
      const events = async (): Promise<Event[]> =>
        (await (await system.get(TIMELINE)).json()) as Event[];
      await until('each message is answered', async () => {
        const read = await events().catch(() => []);
        return read.filter(({ kind }) => kind === 'reply').length === sent.length;
      });
      const timeline = await events();
      expect(timeline.map(({ seq }) => seq)).toEqual(timeline.map((_, index) => index));
      const messages = timeline.filter(({ kind }) => kind === 'message');
      const answered = messages.map(({ content }) => String(content?.[0]?.text));
      expect(answered.toSorted(byText)).toEqual(sent.toSorted(byText));
    },
    TIMEOUT_MS,
  );
});
