import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { killAllClis, reaches, runCli, startCli } from '../support/cli.ts';
import { API_KEY, READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { recordingAgent } from '../support/recording-agent.ts';
import { registerAgents, restateSettings } from '../support/restate.ts';
import { freePort } from '../support/runtime.ts';
import { startScriptedUpstream, type Script } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';

const TYPE = 'cli-recorder';
const agent = recordingAgent(TYPE);
afterAll(killAllClis);
const folder = forAllTests(newFolder);
forAllTests(() => registerAgents([agent.service]));
const gateway = forAllTests(() => startTestGateway(restateSettings()));
const env = reaches(gateway);

/** The body that a handler received, and its content type. */
async function firstBody(id: string): Promise<{ handler: string; text: string; type?: string }> {
  const { handler, body, headers } = await agent.firstRun(id);
  return { handler, text: body.toString('utf8'), type: headers['content-type'] };
}

const accepted = (id: string): RegExp => new RegExp(`^${TYPE}/${id}: accepted as inv_\\w+\n$`);

describe('agent-gateway spawn', () => {
  it('prints the address alone, and sends the type, id and arguments with their numbers as written', async () => {
    const args = ['--args', '{"n": 12345678901234567890, "x": 1.0}', '--parent', `${TYPE}/p1`];
    const result = await runCli(['spawn', `${TYPE}/s1`, ...args], { env });
    expect(result).toEqual({ code: 0, out: `${TYPE}/s1\n`, err: '' });
    expect(await firstBody('s1')).toEqual({
      handler: 'spawn',
      text: `{"type":"${TYPE}","id":"s1","args":{"n":12345678901234567890,"x":1.0},"parent":"/t/default/a/${TYPE}/p1"}`,
      type: 'application/json',
    });
  });

  it('prints the id that was made up, to be used in the next command', async () => {
    const { code, out, err } = await runCli(['spawn', TYPE], { env });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^${TYPE}/[0-9a-z]{26}\n$`));
    const sent = await runCli(['send', out.trim(), 'hi'], { env });
    expect(sent).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${out.trim()}: accepted`),
    });
  });

  it('prints the whole answer with --json, and knows a repetition by its key', async () => {
    const args = ['spawn', TYPE, '--idempotency-key', 'order-4711', '--json'];
    const first = await runCli(args, { env });
    const second = await runCli(args, { env });
    const answer = JSON.parse(first.out) as { url: string };
    expect(answer).toEqual({
      url: expect.stringMatching(`^/t/default/a/${TYPE}/[0-9a-z]{26}$`),
      streamPath: `${answer.url.replace('/a/', '/agents/')}/timeline`,
      streamUrl: `/streams${answer.url.replace('/a/', '/agents/')}/timeline`,
      restate: { invocationId: expect.stringMatching(/^inv_/) },
      replayed: false,
      idempotencyKey: 'order-4711',
      requestId: expect.stringMatching(/^[0-9A-Z]{26}$/),
    });
    expect(JSON.parse(second.out)).toEqual({
      ...answer,
      replayed: true,
      requestId: expect.any(String),
    });
  });

  it('takes the arguments from standard input', async () => {
    const result = await runCli(['spawn', `${TYPE}/s2`, '--args-file', '-'], {
      env,
      input: '{"from":"stdin"}\n',
    });
    expect(result).toEqual({ code: 0, out: `${TYPE}/s2\n`, err: '' });
    expect((await firstBody('s2')).text).toContain('"args":{"from":"stdin"}');
  });

  it('names the tenant in the path where one is named, and says that it is not served', async () => {
    const result = await runCli(['spawn', `${TYPE}/s3`, '--tenant', 'acme'], { env });
    expect(result).toEqual({
      code: 4,
      out: '',
      err: expect.stringMatching(
        /^agent-gateway: 404 tenant_not_served\. .+ \(request [0-9A-Z]{26}\)\nagent-gateway: Name the tenant/,
      ),
    });
    expect(agent.runsOf('s3')).toEqual([]);
  });
});

/** The canonical message of a text that is quoted as JSON. */
const message = (quoted: string): string =>
  `{"kind":"message","content":[{"type":"text","text":${quoted}}]}`;
const JSON_TYPE = 'application/json';

describe('agent-gateway send', () => {
  it.each<[string, string, string[], string | undefined, string, string]>([
    [
      'a text',
      'm1',
      ['Hello, "Ada"\nöß'],
      undefined,
      message('"Hello, \\"Ada\\"\\nöß"'),
      JSON_TYPE,
    ],
    [
      'the input without its last line end',
      'm2',
      ['-'],
      'one\ntwo\n',
      message('"one\\ntwo"'),
      JSON_TYPE,
    ],
    ['raw JSON', 'raw1', ['--raw', '{"a": 1.0}'], undefined, '{"a": 1.0}', JSON_TYPE],
    ['a content type', 'raw2', ['--content-type', 'text/x', 'plain'], undefined, 'plain', 'text/x'],
    ['raw input', 'raw3', ['--raw', '-'], '{}\n', '{}\n', JSON_TYPE],
    [
      'bytes',
      'raw4',
      ['--file', '-'],
      '\u0000\u0001ä\n',
      '\u0000\u0001ä\n',
      'application/octet-stream',
    ],
    ['a file', 'f1', ['--file', 'note.md'], undefined, '# Hi\n', 'text/markdown; charset=utf-8'],
  ])('sends the very bytes, with their type, of %s', async (_, id, args, input, text, type) => {
    await writeFile(join(folder.path, 'note.md'), '# Hi\n');
    // Every other way to name it, too.
    const address = id === 'm2' ? `/t/default/a/${TYPE}/${id}` : `${TYPE}/${id}`;
    const send = ['send', address, ...args];
    const cwd = folder.path;
    const result = await runCli(send, { env, cwd, ...(input !== undefined && { input }) });
    expect(result).toEqual({ code: 0, out: expect.stringMatching(accepted(id)), err: '' });
    expect(await firstBody(id)).toEqual({ handler: 'wake', text, type });
  });
});

describe('agent-gateway control', () => {
  it('sends the verb and the reason', async () => {
    const args = ['control', `${TYPE}/c1`, 'pause', '--reason', 'lunch'];
    const result = await runCli(args, { env });
    expect(result).toEqual({ code: 0, out: expect.stringMatching(accepted('c1')), err: '' });
    const text = '{"verb":"pause","reason":"lunch"}';
    expect(await firstBody('c1')).toEqual({ handler: 'control', text, type: JSON_TYPE });
  });
});

describe('a command that is refused', () => {
  it.each<[string, string[], number, RegExp]>([
    [
      'a type that nobody registered',
      ['send', 'nobody/x', 'hi'],
      4,
      /^agent-gateway: 404 entity_type_not_registered\. .+ \(request \w{26}\)\nagent-gateway: Registered: .*\bcli-recorder\b.*\. Register another: agent-gateway deployments register URI\n$/,
    ],
    [
      'a body over the cap',
      ['send', `${TYPE}/big`, '--file', '-'],
      5,
      /^agent-gateway: 413 body_too_large\. .+ \(request \w{26}\)\n$/,
    ],
  ])('ends with its code for %s', async (_, args, code, err) => {
    const input = Buffer.alloc(1_048_577, 'x');
    const result = await runCli(args, { env, input });
    expect(result).toEqual({ code, out: '', err: expect.stringMatching(err) });
  });

  it('says where a wrong key came from, and never the key', async () => {
    const key = 'wrong-key-0123456789';
    const result = await runCli(['send', `${TYPE}/x`, 'hi', '--key', key], { env });
    expect(result).toEqual({
      code: 3,
      out: '',
      err: expect.stringMatching(
        /^agent-gateway: 401 invalid_credentials\. .+\nagent-gateway: The key came from --key\.\n$/,
      ),
    });
    expect(result.err).not.toContain(key);
  });

  it('asks for a key where there is none, and for an API key where there is a read token', async () => {
    const without = await runCli(['send', `${TYPE}/x`, 'hi', '--url', gateway.url]);
    expect(without).toMatchObject({ code: 3, out: '' });
    expect(without.err).toContain('401 missing_credentials');
    expect(without.err).toContain('agent-gateway: Give an API key or a read token: --key-file');
    const token = await mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds: 60 });
    const withToken = await runCli(['send', `${TYPE}/x`, 'hi', '--key-file', '-'], {
      env: { AGENT_GATEWAY_URL: gateway.url },
      input: token,
    });
    expect(withToken).toMatchObject({ code: 3, out: '' });
  });
});

describe('a command whose answer is lost', () => {
  const answer = (id: string): string => {
    const url = `/t/default/a/chat/${id}`;
    const streamPath = `/t/default/agents/chat/${id}/timeline`;
    const restate = { invocationId: 'inv_1' };
    return JSON.stringify({ url, streamPath, streamUrl: `/streams${streamPath}`, restate });
  };

  async function against<T>(script: Script, work: (url: string) => Promise<T>): Promise<T> {
    const server = await startScriptedUpstream(script);
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  }

  it('is sent again with the same idempotency key until it is accepted', async () => {
    const keys: unknown[] = [];
    const script: Script = (request, response) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1) request.socket.destroy();
      else if (keys.length === 2) response.writeHead(502, { 'x-request-id': 'r2' }).end('bad');
      else if (keys.length === 3) response.writeHead(503, { 'retry-after': '1' }).end();
      else response.writeHead(202, { 'idempotency-replayed': 'true' }).end(answer('a1'));
    };
    const result = await against(script, (url) =>
      runCli(['send', 'chat/a1', 'hi', '--create', '--url', url, '--key', API_KEY]),
    );
    expect(result).toEqual({
      code: 0,
      out: 'chat/a1: accepted before, with the same idempotency key as inv_1\n',
      err: expect.stringMatching(
        /^agent-gateway: The gateway at \S+ cannot be reached: the connection broke \(\w+\); trying again for up to 10 s\.\n$/,
      ),
    });
    expect(keys).toEqual(Array(4).fill(expect.stringMatching(/^cli-[0-9a-z]{26}$/)));
    expect(new Set(keys).size).toBe(1);
  });

  it('ends with 6 and the key to go on with, when that lasts too long', async () => {
    const script: Script = (_, response) => response.writeHead(502).end('{"code":"x"}');
    const result = await against(script, (url) =>
      runCli(['send', 'chat/a1', 'hi', '--url', url, '--key', API_KEY, '--retry-for', '0']),
    );
    expect(result).toEqual({
      code: 6,
      out: '',
      err: expect.stringMatching(
        /^agent-gateway: 502 from behind the gateway\. \{"code":"x"\}\nagent-gateway: It may have been accepted all the same\. The same command with --idempotency-key cli-[0-9a-z]{26} is handled once at most\.\n$/,
      ),
    });
  });

  it('says that nothing was accepted where nobody listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await runCli(['send', 'chat/a1', 'hi', '--url', url, '--retry-for', '0'])).toEqual({
      code: 6,
      out: '',
      err:
        `agent-gateway: The gateway at ${url} cannot be reached: the connection is refused (ECONNREFUSED).\n` +
        `agent-gateway: Nothing was accepted. Is ${url} the right address? Try agent-gateway doctor.\n`,
    });
  });

  it('follows no redirect, so that the key goes nowhere else', async () => {
    await against(
      (_, response) => response.end(),
      async (elsewhere) => {
        const script: Script = (_, response) =>
          response.writeHead(308, { location: `${elsewhere}/` }).end();
        const result = await against(script, (url) =>
          runCli(['send', 'chat/a1', 'hi', '--url', url, '--key', API_KEY]),
        );
        expect(result).toMatchObject({ code: 6, out: '' });
        expect(result.err).toMatch(
          /^agent-gateway: What answers at \S+ does not seem to be an agent gateway\. The address answers with a redirect to \S+\. No agent gateway does\.\n$/,
        );
      },
    );
  });

  it('ends at once and cleanly on Ctrl-C while it waits to try again', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const cli = startCli(['send', 'chat/a1', 'hi', '--url', url]);
    await cli.until(({ err }) => err.includes('trying again'));
    cli.signal('SIGINT');
    expect(await cli.ended).toMatchObject({ code: 130, out: '' });
  });
});
