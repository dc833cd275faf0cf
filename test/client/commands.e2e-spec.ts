import { createServer } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { AgentGateway, APIError } from '../../packages/client/src/index.ts';
import { startFlakyLink } from '../support/flaky-link.ts';
import { API_KEY, startTestGateway } from '../support/gateway.ts';
import { recordingAgent } from '../support/recording-agent.ts';
import { registerAgents, restateSettings, restateUrls, serveAgents } from '../support/restate.ts';
import { freePort } from '../support/runtime.ts';
import { listening } from '../support/listening.ts';
import { startScriptedUpstream, type Script } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';

const TYPE = 'client-commands';
const recording = recordingAgent(TYPE);
forAllTests(() => registerAgents([recording.service]));
const gateway = forAllTests(() => startTestGateway(restateSettings()));

const client = (url = gateway.url, more = {}): AgentGateway =>
  new AgentGateway({ url, apiKey: API_KEY, ...more });

/** The gateway names the request in every answer. */
const GATEWAYS = { 'x-request-id': 'r1' };

describe('commands of the client, at Restate', () => {
  it('spawn, send and control reach the agent as they are', async () => {
    const { agents: commands } = client();
    const spawned = await commands.spawn({ type: TYPE, id: 'all', args: { n: [1, null] } });
    expect(spawned).toEqual({
      url: `/t/default/a/${TYPE}/all`,
      streamPath: `/t/default/agents/${TYPE}/all/timeline`,
      streamUrl: `/streams/t/default/agents/${TYPE}/all/timeline`,
      invocationId: expect.stringMatching(/^inv_/),
      isReplay: false,
      idempotencyKey: expect.any(String),
      requestId: expect.any(String),
    });
    await commands.send(spawned, 'h\u00e9llo');
    await commands.send(`${TYPE}/all`, { kind: 'message' });
    await commands.send(spawned.url, new Uint8Array([0, 255]));
    const { requestId } = await commands.control(spawned, 'pause', { reason: 'lunch' });
    const runs = await recording.waitForRuns('all', 5);
    expect(
      runs.map(({ handler, headers, body }) => [
        handler,
        headers['content-type'],
        body.toString('latin1'),
      ]),
    ).toEqual([
      ['spawn', 'application/json', `{"type":"${TYPE}","id":"all","args":{"n":[1,null]}}`],
      ['wake', 'text/plain; charset=utf-8', Buffer.from('h\u00e9llo').toString('latin1')],
      ['wake', 'application/json', '{"kind":"message"}'],
      ['wake', 'application/octet-stream', '\u0000\u00ff'],
      ['control', 'application/json', '{"verb":"pause","reason":"lunch"}'],
    ]);
    expect(runs[4]?.headers['x-request-id']).toBe(requestId);
  });

  it('are handled once and in order, whatever is cut', async () => {
    const link = await startFlakyLink(gateway.port);
    const { agents: commands } = client(link.url);
    const messages = Array.from({ length: 60 }, (_, index) => `message ${index}`);
    let isSending = true;
    const cutting = (async () => {
      // Each cut falls into another place of some request. On a busy machine all requests would be cut for ever.
      for (let turns = 0; isSending && turns < 300; turns++) {
        await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 60));
        if (turns % 9 === 8) link.goDown();
        else link.cut();
        link.resume();
      }
    })();
    for (const message of messages) await commands.send(`${TYPE}/cut`, message);
    isSending = false;
    await cutting;
    await link.stop();
    await client().agents.send(`${TYPE}/cut`, 'the end');
    await recording.waitForRuns('cut', 61);
    expect(recording.runsOf('cut').map(({ body }) => body.toString())).toEqual([
      ...messages,
      'the end',
    ]);
  });

  it('are the same command with the same key', async () => {
    const { agents: commands } = client();
    const options = { idempotencyKey: 'one-and-the-same' };
    const first = await commands.spawn({ type: TYPE }, options);
    const second = await commands.spawn({ type: TYPE }, options);
    expect(second).toEqual({ ...first, isReplay: true, requestId: expect.any(String) });
  });

  it('say what was wrong with them', async () => {
    const { agents: commands } = client();
    await expect(commands.spawn({ type: 'nobody-registers-this' })).rejects.toMatchObject({
      name: 'APIError',
      status: 404,
      code: 'entity_type_not_registered',
      requestId: expect.any(String),
    });
    const wrong = { verb: 'explode' } as unknown as { verb: 'pause' };
    await expect(commands.control(`${TYPE}/all`, wrong.verb)).rejects.toMatchObject({
      code: 'unknown_verb',
      errors: [{ field: 'verb', message: expect.stringContaining('must be one of') }],
    });
    await expect(client(gateway.url, { apiKey: 'wrong' }).deployments.list()).rejects.toMatchObject(
      { status: 401, code: 'invalid_credentials' },
    );
    for (const address of ['x', 'a/b/c', '../x', 'a/..', '/streams/x', '/t/x/a/y', 'a/b?c']) {
      await expect(commands.send(address, 'x')).rejects.toThrow(TypeError);
    }
  });

  it('go to the tenant that the client names', async () => {
    const other = client(gateway.url, { tenant: 'other' });
    await expect(other.agents.spawn({ type: TYPE })).rejects.toMatchObject({
      code: 'tenant_not_served',
    });
    await expect(other.agents.send(`${TYPE}/x`, 'x')).rejects.toMatchObject({
      code: 'tenant_not_served',
    });
  });
});

describe('deployments of the client, at Restate', () => {
  it('are listed, registered and removed', async () => {
    const { deployments } = client();
    const listed = await deployments.list();
    const own = listed.find(({ services }) => services.some(({ name }) => name === TYPE));
    if (!own?.uri) throw new Error('the deployment is not listed');
    const again = await deployments.register(own.uri, { dryRun: true });
    expect(again.services.map(({ name }) => name)).toEqual([TYPE]);
    await expect(deployments.register('http://127.0.0.1:2')).rejects.toBeInstanceOf(APIError);
    const otherType = `${TYPE}-other`;
    const served = await serveAgents([recordingAgent(otherType).service]);
    const { id } = await deployments.register(served.uri);
    await deployments.remove(id, { force: true });
    await expect(deployments.remove(id, { force: true })).rejects.toMatchObject({ status: 404 });
    await served.close();
  });

  // Restate "did not reach" them: it asked without the headers, or by HTTP/2.
  it('are checked as they are registered', async () => {
    const headers = { authorization: 'Bearer secret-of-the-agent' };
    const handler = createEndpointHandler({
      services: [recordingAgent(`${TYPE}-old`).service],
      bidirectional: false,
      logger: () => undefined,
    });
    const server = await listening(
      createServer((request, response) => {
        if (request.headers.authorization === headers.authorization) handler(request, response);
        else response.writeHead(401).end();
      }),
    );
    const uri = `${server.url}/`;
    const body = JSON.stringify({ uri, use_http_11: true, additional_headers: headers });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    await fetch(`${restateUrls().adminUrl}/deployments`, init);
    const { deployments } = client();
    const own = (await deployments.list()).find((one) => one.uri === uri);
    if (!own) throw new Error('the deployment is not listed');
    const revisions = async () =>
      (await deployments.services())
        .map(({ name, revision }) => `${name} ${String(revision)}`)
        .sort();
    const before = await revisions();

    await deployments.check(own);
    expect(await revisions()).toEqual(before);

    await server.stop();
    await expect(deployments.check(own, { retryForMs: 0 })).rejects.toBeInstanceOf(APIError);
    await deployments.remove(own.id, { force: true });
  });
});

describe('a request of the client that fails', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  /** A client of a server that answers as the script says, until the test ends. */
  async function at(script: Script, more = {}) {
    const server = await startScriptedUpstream(script);
    stops.push(() => server.stop());
    return { server, gateway: client(server.url, more) };
  }
  const ACCEPTED = JSON.stringify({
    url: '/t/default/a/x/1',
    streamPath: '/p',
    streamUrl: '/streams/p',
    restate: { invocationId: 'inv_1' },
  });

  it.each([429, 500, 502, 503, 504, 408])(
    'with %d is sent again with the same key',
    async (status) => {
      let tries = 0;
      const { server, gateway: it } = await at((_, response) => {
        tries += 1;
        response.writeHead(tries < 3 ? status : 202).end(ACCEPTED);
      });
      await it.agents.send('x/1', 'hello');
      const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(1);
    },
  );

  it.each([400, 401, 403, 404, 409, 413])('with %d is refused for good', async (status) => {
    const { server, gateway: it } = await at((_, response) =>
      response.writeHead(status, GATEWAYS).end('no'),
    );
    await expect(it.agents.send('x/1', 'hello')).rejects.toMatchObject({
      message: `${status} no`,
      code: `http_${status}`,
      isSafeToRetry: true,
    });
    expect(server.seen).toHaveLength(1);
  });

  // Four retries were over after two seconds, and an outage of ten failed every command.
  it('is repeated for a time and not for a number of tries, as Retry-After says at least', async () => {
    let tries = 0;
    const { server, gateway: it } = await at((_, response) => {
      response.writeHead(++tries < 12 ? 502 : 202, tries === 1 ? { 'retry-after': '1' } : {});
      response.end(ACCEPTED);
    });
    const waits: number[] = [];
    const onRetry = (_: unknown, retryInMs: number) => void waits.push(retryInMs);
    jest.spyOn(Math, 'random').mockReturnValue(0.01);
    await it.agents.send('x/1', 'hello', { onRetry });
    jest.restoreAllMocks();
    expect(server.seen).toHaveLength(12);
    expect(waits).toEqual([1_002, 4, 8, 16, 32, 50, 50, 50, 50, 50, 50]);
  });

  it('is given up when no retry fits into its time, with what was last said', async () => {
    const { server, gateway: it } = await at((_, response) =>
      response.writeHead(503, { 'retry-after': '6' }).end('busy'),
    );
    await expect(it.deployments.list()).rejects.toMatchObject({
      status: 503,
      detail: 'busy',
      retryAfterMs: 6_000,
    });
    const options = { retryForMs: 0 };
    await expect(it.agents.send('x/1', 'hello', options)).rejects.toMatchObject({ status: 503 });
    const another = client(server.url, options);
    await expect(another.agents.send('x/1', 'hello')).rejects.toMatchObject({ status: 503 });
    expect(server.seen).toHaveLength(3);
  });

  it('is not repeated where its effect may be there and could come twice', async () => {
    const { server, gateway: it } = await at((_, response) => response.writeHead(502).end());
    await expect(it.deployments.remove('dp_1')).rejects.toMatchObject({ isSafeToRetry: false });
    const force = { force: true };
    await expect(it.deployments.register('http://x', force)).rejects.toMatchObject({
      isSafeToRetry: false,
    });
    expect(server.seen).toHaveLength(2);
  });

  it.each([
    [502, { code: 'upstream_unreachable', sent: false }],
    [503, { code: 'draining' }],
    [503, { code: 'overloaded' }],
    [503, { code: 'keys_unavailable' }],
    [429, { code: 'rate_limited' }],
  ])('is repeated where nothing was done: %d %j', async (status, problem) => {
    let tries = 0;
    const { server, gateway: it } = await at((_, response) => {
      response.writeHead(++tries < 2 ? status : 202);
      response.end(JSON.stringify({ ...problem, detail: 'not now' }));
    });
    await it.deployments.remove('dp_1');
    expect(server.seen).toHaveLength(2);
  });

  // Any 503 was taken for the gateway's own, also that of a proxy that had sent the request on.
  it.each([
    [502, { code: 'upstream_unreachable', detail: 'lost' }],
    [502, { code: 'upstream_timeout', detail: 'late' }],
    [503, { message: 'of a proxy' }],
    [500, { sent: false, message: 'of a server that is no gateway' }],
  ])('is not repeated where it may be done: %d %j', async (status, problem) => {
    const { server, gateway: it } = await at((_, response) =>
      response.writeHead(status).end(JSON.stringify(problem)),
    );
    await expect(it.deployments.remove('dp_1')).rejects.toMatchObject({
      status,
      isUndone: false,
      isSafeToRetry: false,
    });
    expect(server.seen).toHaveLength(1);
  });

  it('ends with the reason of the caller, and in time', async () => {
    const { gateway: it } = await at(() => undefined);
    const reason = new Error('enough');
    const controller = new AbortController();
    const sending = it.agents.send('x/1', 'hello', { signal: controller.signal });
    controller.abort(reason);
    await expect(sending).rejects.toBe(reason);
    const options = { timeoutMs: 20, retryForMs: 0 };
    await expect(it.agents.send('x/1', 'hello', options)).rejects.toMatchObject({
      code: 'timeout',
      status: undefined,
      isSafeToRetry: true,
    });
  });

  it('names who answers something else, and follows nobody elsewhere', async () => {
    const { server: elsewhere } = await at((_, response) => response.end(ACCEPTED));
    const { gateway: it } = await at((request, response) => {
      if (request.url?.includes('/2/') === true) return void response.end('<html>');
      response.writeHead(307, { location: `${elsewhere.url}/x` }).end();
    });
    for (const agent of ['x/1', 'x/2']) {
      await expect(it.agents.send(agent, 'hello')).rejects.toMatchObject({
        code: 'invalid_response',
      });
    }
    expect(elsewhere.seen).toEqual([]);
  });

  it('asks for a credential anew after a 401, and waits for one that cannot be had', async () => {
    let tries = 0;
    const { server, gateway: it } = await at(
      (request, response) => {
        const isGood = request.headers.authorization === 'Bearer key-2';
        response.writeHead(isGood ? 202 : 401).end(ACCEPTED);
      },
      {
        apiKey: () => {
          tries += 1;
          if (tries === 2) throw new Error('no key just now');
          return `key-${tries === 1 ? 1 : 2}`;
        },
      },
    );
    await it.agents.send('x/1', 'hello');
    expect([tries, server.seen.length]).toEqual([3, 2]);
  });

  it('never shows the key', async () => {
    const { gateway: it } = await at((_, response) => response.writeHead(400, GATEWAYS).end('no'));
    const gone = client(`http://127.0.0.1:${await freePort()}`, { retryForMs: 0 });
    for (const { agents: commands } of [it, gone]) {
      const seen: unknown = await commands.send('x/1', 'hello').catch((thrown: unknown) => thrown);
      const text = `${String(seen)}${JSON.stringify(seen)}${(seen as Error).stack}`;
      expect(seen).toBeInstanceOf(APIError);
      expect(text).not.toContain(API_KEY);
    }
  });

  it('never shows a key that no header can carry', async () => {
    const key = 'a-secret\nkey';
    expect(() => client(gateway.url, { apiKey: key })).toThrow('must be visible ASCII');
    expect(() => client(gateway.url, { apiKey: '' })).toThrow('must be visible ASCII');
    const failing = client(gateway.url, { apiKey: () => key, retryForMs: 0 }).deployments.list();
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'credential_unavailable', isSafeToRetry: true });
    expect(`${(error as Error).stack}${String((error as Error).cause)}`).not.toContain('a-secret');
  });

  it('is not sent at all to what is no address', () => {
    for (const url of ['', 'gateway', 'ftp://x', 'http://user:pw@x', 'http://x?y', 'http://x#y']) {
      expect(() => client(url)).toThrow('The url must be an http or https URL');
    }
    expect(() => client(gateway.url, { authCallback: () => undefined })).toThrow('not both');
  });
});
