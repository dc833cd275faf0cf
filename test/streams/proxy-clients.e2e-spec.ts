import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { handlers, object, serde } from '@restatedev/restate-sdk';
import { afterEach, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { forAllTests, forThisTest } from '../support/for-this-test.ts';
import { API_KEY, AUTHORIZED, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { registerAgents, restateUrls } from '../support/restate.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { logOf, testGateway } from '../support/scripted-gateway.ts';
import { startRawUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';
import { openWire, Wire } from '../support/wire.ts';

const KEY = `Authorization: Bearer ${API_KEY}`;

describe('a client that goes away', () => {
  /** The upstream's next connection. */
  let arrived = Promise.withResolvers<Wire>();
  let connections = 0;
  const upstream = forAllTests(() =>
    startRawUpstream((socket) => {
      connections++;
      arrived.resolve(new Wire(socket));
      arrived = Promise.withResolvers();
    }),
  );
  const gateway = testGateway(() => ({
    GATEWAY_HISTORY_URL: upstream.url,
    // One read at a time: a place that is not given back would turn away the next one.
    GATEWAY_MAX_OPEN_READS: '1',
  }));
  afterEach(() => {
    expect(gateway.logLines.filter((line) => line.includes('internal_error'))).toEqual([]);
  });

  /** Sends a request, and waits until it is with the upstream. */
  async function send(
    path: string,
    { method = 'GET', headers = [] as string[], body = '' } = {},
  ): Promise<{ client: Wire; server: Wire }> {
    const next = arrived.promise;
    const client = await openWire(gateway.port);
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: g', KEY, ...headers];
    await client.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    const server = await next;
    await server.until('\r\n\r\n');
    return { client, server };
  }

  /** The one log line of a request. */
  async function logged(path: string): Promise<Record<string, unknown>> {
    const find = () => logOf(gateway).find((line) => line.path === path);
    await until(`${path} is in the log`, find);
    return find() ?? {};
  }

  it.each([
    ['closes', (client: Wire) => client.socket.end()],
    ['resets', (client: Wire) => client.reset()],
  ])('ends a parked read at once when it %s', async (how, leave) => {
    const { client, server } = await send(`/streams/parked-${how}?live=long-poll`);
    leave(client);
    await server.over();
    expect(await logged(`/streams/parked-${how}`)).toMatchObject({
      method: 'GET',
      route: '/streams/{*path}',
      status: 499,
      upstream: 'history',
      broken: true,
    });
  });

  it('ends an event stream in the middle of its body', async () => {
    const { client, server } = await send('/streams/sse');
    await server.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n');
    await client.until('data: 1');
    client.reset();
    await server.over();
    expect(await logged('/streams/sse')).toMatchObject({ status: 200, broken: true });
  });

  it('ends a body that it does not read', async () => {
    const { client, server } = await send('/streams/unread');
    client.socket.pause();
    await server.write('HTTP/1.1 200 OK\r\n\r\n');
    const block = randomBytes(1_000_000);
    const pump = async (): Promise<void> => {
      while (!server.socket.destroyed) await server.write(block);
    };
    const pumping = pump();
    await until('the gateway reads no more', () => server.socket.writableLength > 0);
    client.reset();
    await server.over();
    server.socket.destroy();
    void pumping;
  });

  it('ends its upload, which the upstream cannot take for the whole', async () => {
    const { client, server } = await send('/streams/upload', {
      method: 'POST',
      headers: ['Content-Length: 100'],
      body: 'the first part',
    });
    await server.until('the first part');
    client.reset();
    await server.over();
    expect(server.received).not.toContain('\r\n0\r\n');
    expect(await logged('/streams/upload')).toMatchObject({ method: 'POST', status: 499 });
  });

  it('leaves nothing upstream of an upload of unknown length', async () => {
    const before = connections;
    const client = await openWire(gateway.port);
    await client.write(
      `POST /streams/held HTTP/1.1\r\nHost: g\r\n${KEY}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n`,
    );
    // The next request on another connection shows that this one has been read.
    await fetch(`${gateway.url}/health`).then((answer) => answer.text());
    client.reset();
    expect(await logged('/streams/held')).toMatchObject({ status: 499, broken: true });
    expect(connections).toBe(before);
  });

  it('costs the upstream nothing when it goes while its token is judged', async () => {
    // Seen: its request was sent on all the same, and parked for as long as a read may.
    const { publicKey, privateKey } = await generateKeyPair('EdDSA');
    const keys = JSON.stringify({
      keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'EdDSA' }],
    });
    const asked: ServerResponse[] = [];
    const keyServer = forThisTest(
      await startScriptedUpstream((_request, response) => void asked.push(response)),
    );
    const history = forThisTest(
      await startScriptedUpstream((_request, response) => void response.end()),
    );
    const judged = forThisTest(
      await startTestGateway({
        GATEWAY_HISTORY_URL: history.url,
        GATEWAY_READ_TOKEN_JWKS: `${keyServer.url}/jwks.json`,
        GATEWAY_MAX_OPEN_READS: '1',
      }),
    );
    const token = await new SignJWT({ prefix: '/streams/t' })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'k' })
      .setAudience('default')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
    const client = await openWire(judged.port);
    await client.write(
      `GET /streams/t/gone?live HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    await until('the keys are asked for', () => asked.length > 0);
    await fetch(`${judged.url}/health`).then((answer) => answer.text());
    client.reset();
    await until('the read that is gone is in the log', () =>
      judged.logLines.some((line) => line.includes('/streams/t/gone')),
    );
    for (const response of asked) response.end(keys);

    // The same token again is judged after the first, and has the one place.
    const answer = await fetch(`${judged.url}/streams/t/there`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    expect(history.seen.map(({ target }) => target)).toEqual(['/t/there']);
  });

  it('leaves the gateway as it was', async () => {
    const { client, server } = await send('/streams/after');
    await server.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
    await client.until('\r\n\r\nok');
    client.reset();
    await until('the connection is closed', () => upstream.openSockets.size === 0);
  });
});

describe('a real Durable Streams server behind the gateway', () => {
  const history = forAllTests(() => startHistory());
  const gateway = testGateway(() => ({ GATEWAY_HISTORY_URL: history.url }));

  const ask = (method: string, path: string, headers: object = {}, body?: Buffer | string) =>
    fetch(`${gateway.url}/streams/t/default/${path}`, {
      method,
      headers: { ...AUTHORIZED, ...headers },
      body: body as BodyInit | undefined,
    });

  it('keeps bytes as they are, from PUT to a conditional GET', async () => {
    const bytes = randomBytes(300_000);
    const binary = { 'content-type': 'application/octet-stream' };
    const created = await ask('PUT', 'bytes', binary);
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/streams/t/default/bytes');
    expect((await ask('POST', 'bytes', binary, bytes)).status).toBe(204);

    const read = await ask('GET', 'bytes?offset=-1');
    expect(read.status).toBe(200);
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true);
    expect(read.headers.get('cache-control')).toBe('private');
    expect(read.headers.get('vary')?.split(/, */)).toContain('Authorization');
    const etag = read.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"/);

    const again = await ask('GET', 'bytes?offset=-1', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('etag')).toBe(etag);
    const changed = await ask('GET', 'bytes?offset=-1', { 'if-none-match': '"other"' });
    expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, 300_000]);

    const head = await ask('HEAD', 'bytes');
    expect(head.status).toBe(200);
    expect(head.headers.get('stream-next-offset')).toBe(read.headers.get('stream-next-offset'));
    expect(head.headers.get('cache-control')).toBe('no-store');

    expect((await ask('DELETE', 'bytes')).status).toBe(204);
    expect((await ask('GET', 'bytes?offset=-1')).status).toBe(404);
  });

  it('forks a stream that is named by its public path', async () => {
    const json = { 'content-type': 'application/json' };
    await ask('PUT', 'source', json);
    await ask('POST', 'source', json, '[{"seq":1},{"seq":2}]');
    const source = '/streams/t/default/source';
    const forked = await ask('PUT', 'fork', { ...json, 'stream-forked-from': source });
    expect(forked.status).toBe(201);
    expect(await (await ask('GET', 'fork?offset=-1')).json()).toEqual([{ seq: 1 }, { seq: 2 }]);

    const missing = { ...json, 'stream-forked-from': '/streams/t/default/missing' };
    expect((await ask('PUT', 'fork-2', missing)).status).toBe(404);
  });

  it('cannot be led out of a path', async () => {
    const json = { 'content-type': 'application/json' };
    await ask('PUT', 'secret', json);
    // As the server itself resolves it: seen without the gateway.
    const direct = 'GET /v1/stream/t/default/x/%2e%2e/secret';
    expect((await rawAnswer(history.port, direct)).status).toBe(200);
    const through = 'GET /streams/t/default/x/%2e%2e/secret';
    expect((await rawAnswer(gateway.port, through, [KEY])).status).toBe(400);
  });
});

describe('a real Restate behind the gateway', () => {
  it('registers a deployment, whose Location can be followed', async () => {
    const wake = handlers.object.exclusive({ accept: '*/*', input: serde.binary }, async () => {});
    const agents = forThisTest(
      await registerAgents([object({ name: 'proxy-probe', handlers: { wake } })]),
    );
    const { adminUrl } = restateUrls();
    const gateway = forThisTest(await startTestGateway({ GATEWAY_RUNTIME_ADMIN_URL: adminUrl }));
    const post = (url: string, body: object): Promise<Response> =>
      fetch(`${url}/deployments`, {
        method: 'POST',
        headers: { ...AUTHORIZED, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const registry = `${gateway.url}/registry`;
    const registered = await post(registry, { uri: agents.uri, force: true });
    expect([200, 201]).toContain(registered.status);
    const { id } = (await registered.json()) as { id: string };
    const location = registered.headers.get('location') ?? '';
    expect(location).toBe(`/registry/deployments/${id}`);

    const followed = await fetch(gateway.url + location, { headers: AUTHORIZED });
    expect(followed.status).toBe(200);
    expect(await followed.json()).toMatchObject({ id, uri: `${agents.uri}/` });

    const [refused, direct] = [await post(registry, {}), await post(adminUrl, {})];
    expect([refused.status, await refused.text()]).toEqual([direct.status, await direct.text()]);
  });
});
