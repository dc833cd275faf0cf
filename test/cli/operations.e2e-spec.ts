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
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
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
    expect(out).toMatch(/\nassistant\/killed: interrupted, so that it does not begin again\n$/);
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
    // It has no row, and was not in the list.
    expect(await cli('ls', '--status', 'failing')).toMatchObject({
      out: expect.stringMatching(/\nthrowing\/t1 +failing /),
      err: expect.stringContaining('throwing/t1 fails since'),
    });
    await putEntity(
      { url: system.exported.CATALOG_URL ?? '', secret: system.exported.CATALOG_TOKEN },
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

describe('agent-gateway runs', () => {
  it('shows what agents did for each message, those that failed first', async () => {
    await gateway.agents.spawn({ type: 'assistant', id: 'runner' });
    await gateway.agents.send('assistant/runner', 'count to 3');
    for await (const { kind } of gateway.timeline('assistant/runner')) if (kind === 'reply') break;
    const { code, out, err } = await cli('runs', 'assistant/runner', '--steps');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^BEGAN +AGENT +END +TOOK +TRIES +STEPS +USAGE +MESSAGE\n/);
    expect(out).toMatch(
      /\n\S+ \S+ +assistant\/runner +done +\d+\.\d s +1 +model 1 +– +count to 3\n +\+\d\.\d s +\d+\.\d s +model +done\n/,
    );
    const [run] = jsonLines<{ agent: string; state: string; steps: unknown[] }>(
      (await cli('runs', '--type', 'assistant', '--state', 'done', '--limit', '1', '--json')).out,
    );
    expect([run?.state, run?.steps.length]).toEqual(['done', 1]);
    expect(await cli('runs', 'assistant/runner', '--state', 'failed')).toEqual({
      code: 0,
      out: '',
      err: 'agent-gateway: There is no such run.\n',
    });
    expect(await cli('runs', '--since', 'yesterday')).toMatchObject({ code: 2, out: '' });
    expect(await cli('runs', 'assistant/never')).toEqual({
      code: 4,
      out: '',
      err: 'agent-gateway: Nothing is known of assistant/never.\n',
    });
  });
});

describe('agent-gateway control --tree', () => {
  it('sends to an agent and to all below it, except those that are archived', async () => {
    const of = (id: string) => `/t/default/a/assistant/${id}`;
    const spawn = async (id: string, parent?: string) =>
      gateway.agents.spawn({ type: 'assistant', id, ...(parent && { parent: of(parent) }) });
    await spawn('root');
    for (const [id, parent] of [
      ['child', 'root'],
      ['old', 'root'],
      ['grandchild', 'child'],
      ['stranger', undefined],
    ] as const) {
      await spawn(id, parent);
    }
    await gateway.agents.control('assistant/old', 'archive');
    for (const id of ['root', 'child', 'grandchild', 'stranger']) await hasStatus(id, 'idle');
    await hasStatus('old', 'archived');
    const { code, out, err } = await cli('control', 'assistant/root', 'pause', '--tree');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n').map((line) => line.split(':')[0])).toEqual([
      'assistant/root',
      'assistant/child',
      'assistant/grandchild',
      '',
    ]);
    for (const id of ['root', 'child', 'grandchild']) await hasStatus(id, 'paused');
    await hasStatus('stranger', 'idle');
    const asJson = await cli('control', 'assistant/child', 'resume', '--tree', '--json');
    expect(jsonLines<{ url: string }>(asJson.out).map(({ url }) => url)).toEqual([
      of('child'),
      of('grandchild'),
    ]);
    expect(await cli('control', 'assistant/nobody', 'pause', '--tree')).toMatchObject({ code: 4 });

    // One that refuses keeps no other from getting it.
    const lost = { type: 'unserved', id: 'u', url: '/t/default/a/unserved/u', parent: of('root') };
    await putEntity(
      { url: system.exported.CATALOG_URL ?? '', secret: system.exported.CATALOG_TOKEN },
      entity('u', { ...lost, tenant: 'default' }),
    );
    const partly = await cli('control', 'assistant/root', 'resume', '--tree');
    expect([partly.code, partly.out.match(/accepted/g)?.length]).toEqual([4, 3]);
    expect(partly.err).toContain('/t/default/a/unserved/u: 404 entity_type_not_registered');
    expect(partly.err).toContain('1 of 4 agents did not get it.');
  });
});

describe('agent-gateway deployments', () => {
  const agentOf = (name: string) => object({ name, handlers: { spawn: async () => undefined } });

  it('lists, registers and removes', async () => {
    const all = await gateway.deployments.list();
    const own = all.find(({ services }) => services.some(({ name }) => name === 'echo'));
    const { id = '', uri = '' } = own ?? {};
    const { out } = await cli('deployments', 'ls');
    expect(out).toMatch(/^ID +ADDRESS +NEW_WORK +SERVICES\n/);
    expect(out).toContain(
      `\n${id}  ${uri}  yes       assistant, assistantRow, assistantTurn, catalogRow, echo\n`,
    );
    const dry = await cli('deployments', 'register', uri, '--dry-run', '--force');
    expect(dry).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('(nothing is changed)'),
    });
    expect(await cli('dp', 'register', uri)).toMatchObject({
      code: 0,
      err: 'agent-gateway: Nothing has changed: it is registered already, and takes the new work of assistant, assistantRow, assistantTurn, catalogRow, echo.\n',
    });
    expect(await cli('deployments', 'remove', id)).toEqual({
      code: 1,
      out: '',
      err:
        `agent-gateway: Restate has not removed ${id}: it removes a deployment only with --force, whether anything still runs there or not.\n` +
        `agent-gateway: What runs there fails then. Look at it first (agent-gateway deployments list, ls), then: agent-gateway deployments remove ${id} --force\n`,
    });
    expect(await cli('deployments', 'rm', id, '--force')).toEqual({
      code: 0,
      out: `${id}: removed\n`,
      err: '',
    });
    expect((await cli('deployments', 'list')).out).not.toContain(id);
    expect(await cli('deployments', 'register', uri)).toMatchObject({ code: 0, err: '' });
    const nobody = await cli('deployments', 'register', 'http://127.0.0.1:2');
    expect(nobody).toMatchObject({ out: '' });
    expect(nobody.code).toBeGreaterThan(0);
  });

  // It ended with 0 and printed the older deployment, as if new work went there again.
  it('says that an older address is no rollback, and who takes the new work', async () => {
    const older = await serveAgents([agentOf('rolled')]);
    const newer = await serveAgents([agentOf('rolled'), agentOf('rolledToo')]);
    const { id: oldId } = await gateway.deployments.register(older.uri);
    const { id: newId } = await gateway.deployments.register(newer.uri);
    const { code, out, err } = await cli('deployments', 'register', older.uri);
    expect([code, out]).toEqual([1, `${oldId}  ${older.uri}  rolled\n`]);
    expect(err).toBe(
      `agent-gateway: Nothing has changed: it is registered already, but ${newId} takes the new work of rolled.\n` +
        'agent-gateway: To roll back, start the older version at an address that is not registered, and register that. For development: --force.\n',
    );
    const listed = (await cli('deployments', 'ls')).out;
    expect(listed).toMatch(new RegExp(`\n${oldId} +http\\S+ +no +rolled\n`));
    expect(listed).toMatch(new RegExp(`\n${newId} +http\\S+ +yes +rolled, rolledToo\n`));

    expect(await cli('deployments', 'register', older.uri, '--force')).toMatchObject({
      code: 0,
      err: '',
    });
    const parts = (await cli('deployments', 'ls')).out;
    expect(parts).toMatch(new RegExp(`\n${newId} +http\\S+ +rolledToo +rolled, rolledToo\n`));
    const asJson = JSON.parse((await cli('deployments', 'ls', '--json')).out) as {
      id: string;
      newWork: string[];
    }[];
    expect(asJson.find(({ id }) => id === newId)?.newWork).toEqual(['rolledToo']);
    for (const id of [oldId, newId]) await gateway.deployments.remove(id, { force: true });
    await Promise.all([older.close(), newer.close()]);
  });

  // A Python agent under uvicorn speaks nothing else.
  it('registers a server that speaks HTTP/1.1 only where it is told to', async () => {
    const manifest = {
      protocolMode: 'REQUEST_RESPONSE',
      minProtocolVersion: 5,
      maxProtocolVersion: 5,
      services: [{ name: 'old', ty: 'VIRTUAL_OBJECT', handlers: [{ name: 'spawn' }] }],
    };
    const server = await startScriptedUpstream((_, response) => {
      const type = 'application/vnd.restate.endpointmanifest.v3+json';
      response.writeHead(200, { 'content-type': type }).end(JSON.stringify(manifest));
    });
    const refused = await cli('deployments', 'register', server.url);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('--use-http1.1');
    const registered = await cli('deployments', 'register', server.url, '--use-http1.1');
    expect(registered).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/  old\n$/) });
    const [id = ''] = registered.out.split(' ');
    await gateway.deployments.remove(id, { force: true });
    await server.stop();
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

  it('takes no key for an address over plain HTTP to another machine, unless it is allowed', async () => {
    const path = join(folder.path, 'plain/config.json');
    const add = ['profile', 'add', 'far', '--url', 'http://gateway.example', '--no-check'];
    const options = { env: { AGENT_GATEWAY_CONFIG: path }, input: `${system.apiKey}\n` };
    const refused = await runCli(add, options);
    expect([refused.code, refused.out]).toEqual([2, '']);
    expect(refused.err).toContain('The key is not sent to http://gateway.example:');
    expect(await runCli([...add, '--allow-http'], options)).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      default: 'far',
      profiles: { far: { url: 'http://gateway.example', key: system.apiKey, allowHttp: true } },
    });
  });
});
