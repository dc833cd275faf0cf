import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { object, type ObjectContext } from '@restatedev/restate-sdk';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { AgentGateway } from '../../packages/client/src/index.ts';
import {
  jsonLines,
  killAllClis,
  runCli,
  startCli,
  typeInShell,
  type CliResult,
} from '../support/cli.ts';
import { serveAgents } from '../support/restate.ts';
import { startLocalSystem } from '../support/local-system.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';

let gateway: AgentGateway;
let env: Record<string, string>;

afterAll(killAllClis);
const folder = forAllTests(newFolder);
const system = forAllTests(() => startLocalSystem(join(folder.path, 'data')));

beforeAll(async () => {
  gateway = new AgentGateway({ url: system.baseUrl, apiKey: system.apiKey });
  env = { AGENT_GATEWAY_URL: system.baseUrl, AGENT_GATEWAY_KEY: system.apiKey };
});

const cli = (...args: string[]): Promise<CliResult> => runCli(args, { env });

/** Waits until the catalog shows this status of the agent. */
async function hasStatus(id: string, status: string): Promise<void> {
  const query = { where: 'id = $1 AND status = $2', params: [id, status] };
  for await (const rows of gateway.catalog(query)) if (rows.length > 0) return;
}

describe('agent-gateway send --tail', () => {
  it('ends with the reply to its own message, whoever else talks to the agent', async () => {
    await gateway.agents.spawn({ type: 'assistant', id: 'busy' });
    const texts = ['count to 2', 'count to 3', 'count to 4'];
    const results = await Promise.all(
      texts.map((text) => cli('send', 'assistant/busy', text, '--tail', '--json')),
    );
    for (const [index, { code, out, err }] of results.entries()) {
      const events = jsonLines<Record<string, unknown>>(out);
      const asked = events.find(
        ({ kind, content }) =>
          kind === 'message' && JSON.stringify(content).includes(texts[index] ?? ''),
      );
      const last = events.at(-1);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect([last?.kind, last?.replyTo]).toEqual(['reply', asked?.seq]);
    }
  });

  it('says that the agent refused it, and why', async () => {
    await gateway.agents.spawn({ type: 'assistant', id: 'gone' });
    await gateway.agents.control('assistant/gone', 'archive');
    await hasStatus('gone', 'archived');
    const { code, out, err } = await cli('send', 'assistant/gone', 'hello?', '--tail');
    expect(code).toBe(5);
    expect(out).toContain('refused');
    expect(err).toBe('agent-gateway: The agent refused the message: archived.\n');
  });

  it('gives up after --timeout, and says that the message was accepted', async () => {
    await gateway.agents.spawn({ type: 'assistant', id: 'paused' });
    await gateway.agents.control('assistant/paused', 'pause');
    await hasStatus('paused', 'paused');
    const late = await cli('send', 'assistant/paused', 'hello?', '--tail', '--timeout', '1');
    expect(late.code).toBe(1);
    expect(late.err).toBe(
      'agent-gateway: There is no reply after 1 s.\n' +
        'agent-gateway: The message was accepted, so the agent may still reply: agent-gateway tail shows it.\n',
    );
  });

  // While the agent is paused no reply can be complete before the interrupt.
  it('says that its reply was interrupted', async () => {
    await gateway.agents.spawn({ type: 'assistant', id: 'stopped' });
    await gateway.agents.control('assistant/stopped', 'pause');
    await hasStatus('stopped', 'paused');
    const sent = startCli(['send', 'assistant/stopped', 'hello?', '--tail'], { env });
    await sent.until(({ out }) => out.includes('message'));
    await gateway.agents.control('assistant/stopped', 'interrupt');
    const { code, err } = await sent.ended;
    expect({ code, err }).toEqual({ code: 1, err: 'agent-gateway: The reply was interrupted.\n' });
  });
});

describe('agent-gateway tail', () => {
  beforeAll(async () => {
    const agent = await gateway.agents.spawn({ type: 'echo', id: 'long' });
    for (const text of ['one', 'two', 'three']) await gateway.agents.send(agent, text);
    for await (const { seq } of gateway.timeline(agent)) if (seq === 6) break;
  });

  it('shows only the last events with --last, and continues with those that come', async () => {
    expect((await cli('tail', 'echo/long', '--last', '2', '--no-follow')).out).toMatch(
      /^\S+ \S+ +5 {2}message +three\n\S+ \S+ +6 {2}reply +three\n$/,
    );
    const tail = startCli(['tail', 'echo/long', '--last', '1', '--json'], { env });
    await tail.until(({ out }) => out.includes('"seq":6'));
    await gateway.agents.send('echo/long', { kind: 'message', content: [] });
    await tail.until(({ out }) => out.includes('"seq":8'));
    expect(tail.out.match(/"seq":\d+/g)).toEqual(['"seq":6', '"seq":7', '"seq":8']);
  });

  // A writer hears that its reader has gone with its next write alone: of a quiet timeline that may be never.
  it('ends at once when the reader of its pipe has had enough', async () => {
    const typed = (line: string) => typeInShell(line, folder.path, env);
    expect(await typed('agent-gateway tail echo/long --json | head -n 1')).toEqual({
      code: 0,
      out: expect.stringMatching(/^\{"seq":0,.*\}\n$/),
      err: '',
    });
    const watched = await typed('agent-gateway watch --json | head -n 1');
    expect([watched.code, watched.err]).toEqual([0, '']);
  });
});

describe('agent-gateway ls', () => {
  it('sorts by a column, either way, and prints no more than is asked for', async () => {
    const listed = async (...args: string[]): Promise<string[]> => {
      const { out } = await cli('ls', '--json', ...args);
      return jsonLines<{ created_at: string }>(out).map((row) => row.created_at);
    };
    const up = await listed('--sort', 'created_at');
    expect(up.length).toBeGreaterThan(3);
    expect(up).toEqual([...up].sort());
    expect(await listed('--sort', '-created_at')).toEqual([...up].reverse());
    expect(await listed('--sort', 'created_at', '--limit', '2')).toEqual(up.slice(0, 2));
  });
});

describe('agent-gateway describe', () => {
  it('prints the row, the last events and what has not ended', async () => {
    await gateway.agents.spawn({ type: 'assistant', id: 'seen' });
    await gateway.agents.send('assistant/seen', 'count to 200');
    for await (const { kind } of gateway.timeline('assistant/seen')) if (kind === 'word') break;
    const { code, out, err } = await cli('describe', 'assistant/seen');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^url +\/t\/default\/a\/assistant\/seen\n/);
    expect(out).toMatch(/\nstatus +\w+\n/);
    expect(out).toContain('\nlast events\n');
    const whole = JSON.parse((await cli('describe', 'assistant/seen', '--json')).out) as {
      row: { id: string };
      events: unknown[];
    };
    expect([whole.row.id, whole.events.length]).toEqual(['seen', 5]);
    expect(await cli('describe', 'assistant/nobody')).toEqual({
      code: 4,
      out: '',
      err: 'agent-gateway: Nothing is known of assistant/nobody.\n',
    });
  });
});

describe('agent-gateway cancel', () => {
  it('ends what an entity has not ended, and says where there is nothing', async () => {
    const started = Promise.withResolvers<void>();
    const hanging = object({
      name: 'hanging',
      handlers: {
        spawn: async (ctx: ObjectContext) => {
          started.resolve();
          await ctx.sleep({ hours: 1 });
        },
      },
    });
    const agents = await serveAgents([hanging]);
    const { id: deployment } = await gateway.deployments.register(agents.uri);
    const { invocationId } = await gateway.agents.spawn({ type: 'hanging', id: 'h1' });
    await started.promise;
    expect((await cli('describe', 'hanging/h1')).out).toMatch(
      new RegExp(`\nhanging/h1/spawn  (running|suspended), tries: 1\n  ${invocationId}\n  since `),
    );
    const ended = await cli('cancel', 'hanging/h1', '--kill');
    expect(ended).toEqual({
      code: 0,
      out: `${invocationId}  hanging/h1/spawn: killed\n`,
      err: '',
    });
    await gateway.deployments.remove(deployment, { force: true });
    await agents.close();
    const unknown = await cli('cancel', 'inv_1jHZDkSGVQI81DYWPVVPE4iFTa4tUpB7aR');
    expect(unknown).toMatchObject({ code: 4, out: '' });
    expect(await cli('cancel', 'echo/nobody')).toEqual({
      code: 0,
      out: '',
      err: 'agent-gateway: It has no invocation that has not ended.\n',
    });
    expect(await cli('cancel', 'nothing')).toMatchObject({ code: 2 });
  });
});

describe.each([
  ['send', 'hi'],
  ['control', 'interrupt'],
])('agent-gateway %s', (command, what) => {
  // Both said "accepted" for an agent that nobody had ever spawned, with exit code 0.
  it('refuses an agent that does not exist, unless it is meant', async () => {
    expect(await cli(command, 'assistant/never', what)).toEqual({
      code: 4,
      out: '',
      err:
        'agent-gateway: There is no assistant/never: the catalog does not have it, and it has no timeline. Nothing was sent.\n' +
        'agent-gateway: agent-gateway ls lists what there is. --create sends it all the same, and the agent decides.\n',
    });
    const meant = await cli(command, `assistant/new-${command}`, what, '--create');
    expect(meant).toMatchObject({ code: 0, err: '' });
  });

  // The registry was named by spawn only.
  it('names the types that there are for one that nobody serves', async () => {
    expect(await cli(command, 'nobody/x', what)).toEqual({
      code: 4,
      out: '',
      err:
        'agent-gateway: There is no type nobody: no deployment serves it. Nothing was sent.\n' +
        'agent-gateway: Registered: assistant, echo. Register another: agent-gateway deployments register URI\n',
    });
  });
});

describe('agent-gateway send', () => {
  it('takes an agent that was spawned just before', async () => {
    for (let number = 0; number < 5; number++) {
      const address = `assistant/fresh-${number}`;
      await gateway.agents.spawn({ type: 'assistant', id: `fresh-${number}` });
      expect(await cli('send', address, 'hi')).toMatchObject({ code: 0, err: '' });
    }
  });
});

describe('an agent that was killed at work', () => {
  // Its row said "running" for good, and its next message waited for a turn that nobody ran.
  it('is interrupted by the cancel that killed it', async () => {
    await gateway.agents.spawn({ type: 'assistant', id: 'killed' });
    await gateway.agents.send('assistant/killed', 'count to 1000');
    for await (const { kind } of gateway.timeline('assistant/killed')) if (kind === 'word') break;
    await hasStatus('killed', 'running');
    const { code, out, err } = await cli('cancel', 'assistant/killed', '--kill');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^inv_\w+ {2}assistantTurn\/run: killed$/m);
    expect(out).toMatch(/\nassistant\/killed: interrupted, because nothing of it runs any more\n$/);
    await hasStatus('killed', 'idle');
  });
});

describe('an agent that throws', () => {
  // It had thrown 92 times and was "running" in the list and for the doctor.
  it('is failing in ls, describe and doctor, with the reason', async () => {
    const twice = Promise.withResolvers<void>();
    let attempts = 0;
    const throwing = object({
      name: 'throwing',
      handlers: {
        spawn: () => {
          attempts += 1;
          if (attempts === 3) twice.resolve();
          return Promise.reject(new Error('no model today'));
        },
      },
    });
    const agents = await serveAgents([throwing]);
    const { id: deployment } = await gateway.deployments.register(agents.uri);
    const { invocationId } = await gateway.agents.spawn({ type: 'throwing', id: 't1' });
    await twice.promise;
    const row = { url: '/t/default/a/throwing/t1', type: 'throwing', id: 't1', tenant: 'default' };
    expect((await cli('ls')).err).toBe('');
    await putEntity(
      { url: system.exported.CATALOG_URL ?? '' },
      entity('t1', { ...row, status: 'running' }),
    );
    const listed = await cli('ls', '--type', 'throwing');
    expect(listed).toEqual({
      code: 0,
      out: expect.stringMatching(/\nthrowing\/t1 +failing /),
      err: expect.stringMatching(
        /^agent-gateway: throwing\/t1 fails since \d{4}-.+, \d+ tries: .*no model today.*\n$/,
      ),
    });
    expect((await cli('describe', 'throwing/t1')).out).toMatch(
      /its last try failed: .*no model today/,
    );
    const doctor = await cli('doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/\n✗ agents {4}throwing\/t1 fails since .*no model today/);
    await gateway.invocations.kill(invocationId);

    await agents.close();
    const unreached = await cli('doctor');
    expect(unreached.code).toBe(6);
    expect(unreached.out).toContain(
      `\n✗ deployed  Restate does not reach ${agents.uri}/ (throwing): `,
    );
    await gateway.deployments.remove(deployment, { force: true });
    expect(await cli('doctor')).toMatchObject({ code: 0, err: '' });
  });
});

describe('agent-gateway deployments', () => {
  it('lists, registers and removes', async () => {
    const all = await gateway.deployments.list();
    const own = all.find(({ services }) => services.some(({ name }) => name === 'echo'));
    const { id = '', uri = '' } = own ?? {};
    const { out } = await cli('deployments', 'ls');
    expect(out).toContain(
      `\n${id}  ${uri}  assistant, assistantRow, assistantTurn, catalogRow, echo\n`,
    );
    const dry = await cli('deployments', 'register', uri, '--dry-run', '--force');
    expect(dry).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('(nothing is changed)'),
    });
    expect(await cli('dp', 'register', uri)).toMatchObject({ code: 0, err: '' });
    expect((await cli('deployments', 'remove', id)).code).not.toBe(0);
    expect(await cli('deployments', 'rm', id, '--force')).toEqual({
      code: 0,
      out: `${id}: removed\n`,
      err: '',
    });
    expect((await cli('deployments', 'list')).out).not.toContain(id);
    expect(await cli('deployments', 'register', uri)).toMatchObject({ code: 0 });
    const nobody = await cli('deployments', 'register', 'http://127.0.0.1:2');
    expect(nobody).toMatchObject({ out: '' });
    expect(nobody.code).toBeGreaterThan(0);
  });
});

describe('agent-gateway profile', () => {
  it('adds a key that works, for its owner alone, and uses it', async () => {
    const path = join(folder.path, 'profiles/config.json');
    const own = { AGENT_GATEWAY_CONFIG: path };
    const add = (name: string, key: string): Promise<CliResult> =>
      runCli(['profile', 'add', name, '--url', system.baseUrl], { env: own, input: `${key}\n` });
    expect(await add('bad', 'wrong-key-0123456789')).toMatchObject({ code: 3, out: '' });
    expect(await add('local', system.apiKey)).toEqual({
      code: 0,
      out: `local: ${system.baseUrl}, in ${path}\n`,
      err: '',
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      default: 'local',
      profiles: { local: { url: system.baseUrl, key: system.apiKey } },
    });
    expect(await runCli(['ls', '--limit', '1'], { env: own })).toMatchObject({ code: 0, err: '' });
    expect((await add('second', system.apiKey)).code).toBe(0);
    expect((await runCli(['profile', 'use', 'second'], { env: own })).code).toBe(0);
    const { out } = await runCli(['profile', 'ls'], { env: own });
    expect(out).toContain('second *');
    expect(out).not.toContain(system.apiKey);
    expect((await runCli(['profile', 'rm', 'second'], { env: own })).code).toBe(0);
    expect(await runCli(['profile', 'use', 'second'], { env: own })).toMatchObject({
      code: 2,
      err: 'agent-gateway: There is no profile "second".\n',
    });
  });
});
