import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { object, TerminalError, type ObjectContext } from '@restatedev/restate-sdk';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { failuresOf, listed, withUnlisted } from '../../local/console/page/agent-list.ts';
import { defineAgent } from '../../packages/client/src/agent/index.ts';
import { AgentGateway, type EntityRow } from '../../packages/client/src/index.ts';
import { listAgents } from '../../packages/mcp/src/list-agents.ts';
import { killAllClis, runCli } from '../support/cli.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startLocalSystem } from '../support/local-system.ts';
import { newFolder } from '../support/new-folder.ts';
import { serveAgents } from '../support/restate.ts';
import { until } from '../support/until.ts';

const folder = forAllTests(newFolder);
const system = forAllTests(() => startLocalSystem(join(folder.path, 'data')));
let gateway: AgentGateway;
let env: Record<string, string>;
const closings: (() => Promise<void>)[] = [];
/** What the agents without the kit do at their next message. */
let isWell = false;

afterAll(async () => {
  await killAllClis();
  for (const close of closings) await close();
});

const message = (text: string) => ({ kind: 'message', content: [{ type: 'text', text }] });
const fails = async (ctx: ObjectContext): Promise<void> => {
  if (isWell) return;
  throw new Error(`${ctx.key} has no model`);
};
const failsForGood = async (ctx: ObjectContext): Promise<void> => {
  if (isWell) return;
  throw new TerminalError(`${ctx.key} gives up`);
};
/** The command was wrong, which is no fault of the agent. */
const refusesCommand = async (): Promise<void> => {
  throw new TerminalError('no such order', { errorCode: 404 });
};
const nothing = async (): Promise<void> => undefined;
const plain = (name: string, handlers: Record<string, (ctx: ObjectContext) => Promise<void>>) =>
  object({ name, handlers: { spawn: nothing, wake: nothing, control: nothing, ...handlers } });

/** Each fault: how its agent comes to it, what its state is then, and what the reason says. */
const FAULTS: [what: string, agent: string, state: 'failing' | 'failed', reason: RegExp][] = [
  [
    'a message that an agent without the kit fails at',
    'plain/wakes',
    'failing',
    /wakes has no model/,
  ],
  ['one that it fails at for good', 'final/gives-up', 'failed', /gives-up gives up/],
  ['one that Restate has paused', 'pausing/paused', 'failing', /paused has no model/],
  ['a deployment that is gone', 'gone/away', 'failing', /\S/],
  ['a spawn that fails, before there is a row', 'unborn/new', 'failing', /new has no model/],
  ['a control command that fails', 'stubborn/c', 'failing', /c has no model/],
  ['an agent that says so in its row only', 'silent/row', 'failing', /Its row says so/],
  ['a model that fails', 'kit/away', 'failing', /the model is away/],
  ['a model that refuses for good', 'kit/refuses', 'failed', /the model refuses/],
  ['rows that cannot be written', 'rowless/r', 'failing', /\S/],
  ['a history store that refuses the agent', 'keyless/k', 'failing', /401/],
];

async function serve(services: Parameters<typeof serveAgents>[0]): Promise<() => Promise<void>> {
  const agents = await serveAgents(services);
  await gateway.deployments.register(agents.uri);
  return agents.close;
}

beforeAll(async () => {
  gateway = new AgentGateway({ url: system.baseUrl, apiKey: system.apiKey });
  env = { AGENT_GATEWAY_URL: system.baseUrl, AGENT_GATEWAY_KEY: system.apiKey };
  const { CATALOG_URL = '', CATALOG_TOKEN = '' } = system.exported;
  const kit = { gatewayUrl: system.baseUrl, apiKey: system.apiKey };
  const rows = { catalogUrl: CATALOG_URL, catalogToken: CATALOG_TOKEN };
  // oxlint-disable-next-line require-yield -- it fails before it says anything
  const generate = async function* ({ message: { text } }: { message: { text: string } }) {
    if (text === 'away') throw new Error('the model is away');
    if (text === 'refuses') throw new TerminalError('the model refuses');
    yield 'well';
  };
  closings.push(
    await serve([
      plain('plain', { wake: fails }),
      plain('final', { wake: failsForGood }),
      object({
        name: 'pausing',
        handlers: { spawn: nothing, wake: fails, control: nothing },
        options: { retryPolicy: { maxAttempts: 1, onMaxAttempts: 'pause' } },
      }),
      plain('unborn', { spawn: fails }),
      plain('picky', { wake: refusesCommand }),
      plain('stubborn', { control: fails }),
      ...defineAgent({ name: 'kit', generate, ...kit, ...rows }).services,
      ...defineAgent({ name: 'rowless', generate, ...kit, catalogUrl: 'http://127.0.0.1:2' })
        .services,
      ...defineAgent({ name: 'keyless', generate, ...kit, apiKey: 'a-key-that-nobody-knows' })
        .services,
    ]),
  );
  const closeGone = await serve([plain('gone', {})]);
  await closeGone();
  const catalog = { url: CATALOG_URL, secret: CATALOG_TOKEN };
  const rowOf = (type: string, id: string, status: string) =>
    putEntity(
      catalog,
      entity(id, { url: `/t/default/a/${type}/${id}`, type, id, tenant: 'default', status }),
    );
  await rowOf('plain', 'wakes', 'running');
  await rowOf('final', 'gives-up', 'idle');
  await rowOf('silent', 'row', 'failing');
  const { agents } = gateway;
  await agents.send('plain/wakes', message('x'));
  await agents.send('final/gives-up', message('x'));
  await agents.send('pausing/paused', message('x'));
  await agents.send('gone/away', message('x'));
  await agents.spawn({ type: 'unborn', id: 'new' });
  await agents.control('stubborn/c', 'pause');
  await agents.send('kit/away', message('away'));
  await agents.send('kit/refuses', message('refuses'));
  await agents.send('rowless/r', message('hi'));
  await agents.send('keyless/k', message('hi'));
  const rowsOfSilent = [{ type: 'silent', id: 'row', status: 'failing', updated_at: '' }];
  await until('all of them fail', async () => {
    const found = await gateway.invocations.failures({ rows: rowsOfSilent });
    const states = new Map(found.map(({ agent, state }) => [agent, state]));
    return (
      FAULTS.every(([, agent]) => states.has(agent)) && states.get('pausing/paused') === 'paused'
    );
  });
});

interface Seen {
  state: string | undefined;
  reason: string;
}

/** What each of the five says of the agent. */
const VIEWS: Record<string, (agent: string) => Promise<Seen>> = {
  ls: async (agent) => {
    const { out, err } = await runCli(['ls'], { env });
    const line = out.split('\n').find((text) => text.startsWith(`${agent} `));
    const said = err.split('\n').find((text) => text.startsWith(`agent-gateway: ${agent} fail`));
    return { state: line?.split(/ +/)[1], reason: said ?? '' };
  },
  doctor: async (agent) => {
    const { out } = await runCli(['doctor'], { env });
    const line = out.split('\n').find((text) => text.startsWith(`✗ agents    ${agent} fail`)) ?? '';
    const state = { fails: 'failing', failed: 'failed' }[line.split(' ')[6] ?? ''];
    return { state, reason: line };
  },
  describe: async (agent) => {
    const { out } = await runCli(['describe', agent, '--json'], { env });
    const { failure } = JSON.parse(out || '{}') as { failure?: { state: string; reason: string } };
    const state = failure && (failure.state === 'failed' ? 'failed' : 'failing');
    return { state, reason: failure?.reason ?? '' };
  },
  console: async (agent) => {
    const rows = await rowsNow();
    const failures = failuresOf(await gateway.invocations.failures({ rows }));
    const all = { text: '', type: '', status: '', sort: 'failing' };
    const shown = listed(withUnlisted(rows, failures, 'default'), failures, all);
    const one = shown.find(({ row }) => `${row.type}/${row.id}` === agent);
    return { state: one?.status, reason: one?.failure?.reason ?? '' };
  },
  mcp: async (agent) => {
    const { agents } = await listAgents(
      gateway as never,
      { limit: 100 },
      new AbortController().signal,
    );
    const one = agents.find(({ type, id }) => `${type}/${id}` === agent);
    return { state: one?.status, reason: one?.failure?.reason ?? '' };
  },
};

async function rowsNow(): Promise<readonly EntityRow[]> {
  for await (const rows of gateway.catalog({ live: false })) return rows;
  return [];
}

describe.each(Object.entries(VIEWS))('%s', (_, view) => {
  it.each(FAULTS)('shows %s', async (_what, agent, state, reason) => {
    expect(await view(agent)).toEqual({ state, reason: expect.stringMatching(reason) });
  });

  it('shows no agent that is well', async () => {
    await gateway.agents.send('kit/well', 'hi');
    for await (const { kind } of gateway.timeline('kit/well')) if (kind === 'reply') break;
    const { state, reason } = await view('kit/well');
    expect([state === 'failing' || state === 'failed', reason]).toEqual([false, '']);
  });
});

describe('an agent that is well', () => {
  it('has refused a command, or somebody has killed one', async () => {
    const { agents, invocations } = gateway;
    const { invocationId } = await agents.send('plain/killed', message('x'));
    await until('it is tried again', async () => {
      const open = await invocations.list({ agent: 'plain/killed', isFailing: true });
      return open.length > 0;
    });
    await invocations.kill(invocationId);
    await agents.send('picky/p', message('x'));
    for (const agent of ['plain/killed', 'picky/p']) {
      await until('it has ended', async () => {
        const ended = await invocations.list({ agent, isEnded: true });
        return ended.length > 0;
      });
      expect(await invocations.failures({ agent })).toEqual([]);
    }
    const all = await invocations.failures();
    expect(all.map(({ agent }) => agent)).not.toContain('picky/p');
  });
});

describe('an agent that works again', () => {
  it('is shown so at once, also where its row still says that it fails', async () => {
    isWell = true;
    await gateway.agents.control('kit/refuses', 'pause');
    await gateway.agents.control('final/gives-up', 'pause');
    await until('both commands have ended', async () => {
      const query = { agent: 'final/gives-up', isEnded: true };
      const ended = await gateway.invocations.list(query);
      return ended.some(({ target }) => target === 'final/gives-up/control');
    });
    const still = await gateway.invocations.failures();
    // A command that is no message says nothing about the next one.
    expect(still.map(({ agent }) => agent)).toEqual(
      expect.arrayContaining(['kit/refuses', 'final/gives-up']),
    );
    await gateway.agents.control('kit/refuses', 'resume');
    await gateway.agents.send('kit/refuses', 'hi');
    await gateway.agents.send('final/gives-up', message('hi'));
    for await (const { kind } of gateway.timeline('kit/refuses')) if (kind === 'reply') break;
    const rows = [{ type: 'kit', id: 'refuses', status: 'failed', updated_at: '' }];
    await until('neither fails', async () => {
      const found = await gateway.invocations.failures({ rows });
      return !found.some(({ agent }) => agent === 'kit/refuses' || agent === 'final/gives-up');
    });
    expect((await VIEWS.doctor?.('final/gives-up'))?.state).toBeUndefined();
    expect((await VIEWS.console?.('final/gives-up'))?.state).toBe('idle');
  });
});
