import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { forThisTest } from '../support/for-this-test.ts';
import {
  API_KEY,
  API_KEY_NAME,
  AUTHORIZED,
  READ_TOKEN_SECRET,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { openSocket } from '../support/open-socket.ts';
import { rawRequest, sendRaw } from '../support/raw-client.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { logOf, scriptedUpstream } from '../support/scripted-gateway.ts';
import { SECRET, secretsIn, secretSettings, sendSecrets } from '../support/secrets.ts';
import {
  startRawUpstream,
  startScriptedUpstream,
  type Script,
} from '../support/scripted-upstream.ts';

type LogLine = Record<string, unknown>;

/** The fields of every line. */
const EVERY_LINE = {
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  service: 'agent-gateway',
  requestId: 'r1',
};
/** The fields of every line about a request. */
const REQUEST_LINE = {
  ...EVERY_LINE,
  level: 'info',
  durationMs: expect.any(Number),
  address: '127.0.0.1',
  message: 'request',
};
/** Those of a read of /streams/x that went to the history store. */
const READ_LINE = {
  ...REQUEST_LINE,
  method: 'GET',
  route: '/streams/{*path}',
  path: '/streams/x',
  credential: API_KEY_NAME,
  upstream: 'history',
};
const REQUEST_ID = { 'x-request-id': 'r1' };

/**
 * The lines that a gateway has written when it has ended, which is when all of them are there:
 * the line of a request comes when its connection is done with it, the client knows earlier.
 */
async function linesOf(
  env: Record<string, string>,
  act: (gateway: TestGateway) => Promise<unknown>,
): Promise<LogLine[]> {
  const gateway = await startTestGateway(env);
  try {
    await act(gateway);
  } finally {
    await gateway.stop();
  }
  return logOf(gateway);
}

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the audit', () => {
  it('has who did what, and what came of it, of all that changes something', async () => {
    const named = 'a-key-that-has-a-name-and-a-scope';
    const answering = async (script: Script): Promise<string> =>
      forThisTest(await startScriptedUpstream(script)).url;
    const env = {
      GATEWAY_API_KEYS: `${API_KEY} name=operators,${named} name=agents scopes=streams:write`,
      GATEWAY_HISTORY_URL: await answering(({ method }, response) =>
        response.writeHead(method === 'DELETE' ? 404 : 201).end(),
      ),
      GATEWAY_RUNTIME_INGRESS_URL: await answering((_, response) =>
        response.writeHead(202).end(ACCEPTED),
      ),
      GATEWAY_LOG_LEVEL: 'info',
    };
    const token = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: '/streams',
      ttlSeconds: 60,
      subject: `"${'x'.repeat(100)}`,
    });
    const act = async (gateway: TestGateway): Promise<void> => {
      const ask = async (method: string, path: string, key: string, id: string) => {
        const trace = id === 'r2' ? { traceparent: TRACEPARENT } : undefined;
        const headers = { authorization: `Bearer ${key}`, 'x-request-id': id, ...trace };
        const body = method === 'POST' ? '{}' : null;
        await (await fetch(gateway.url + path, { method, headers, body })).text();
      };
      await ask('PUT', '/streams/x', named, 'r1');
      await ask('DELETE', '/streams/x', API_KEY, 'r2');
      await ask('DELETE', '/streams/x', named, 'r3');
      await ask('POST', '/api/a/chat/a1/send', API_KEY, 'r4');
      await ask('PUT', '/registry/deployments/x', API_KEY, 'r5');
      await ask('PUT', '/streams/x', token, 'r6');
      await ask('PUT', '/streams/x', 'nobody-has-this-key', 'r7');
      await ask('GET', '/streams/x', API_KEY, 'r8');
    };
    const STANDING = ['level', 'time', 'service', 'message', 'address'];
    const audit = (lines: LogLine[]) =>
      lines
        .filter(({ message }) => message === 'audit')
        .map((line) =>
          Object.fromEntries(Object.entries(line).filter(([name]) => !STANDING.includes(name))),
        );
    const stream = { route: '/streams/{*path}', path: '/streams/x' };
    expect(audit(await linesOf(env, act))).toEqual([
      {
        ...stream,
        credential: 'agents',
        method: 'PUT',
        status: 201,
        outcome: 'done',
        requestId: 'r1',
      },
      {
        ...stream,
        credential: 'operators',
        method: 'DELETE',
        status: 404,
        outcome: 'refused',
        requestId: 'r2',
        // It was left out, so nobody found the trace of a change.
        traceId: TRACEPARENT.split('-')[1],
      },
      {
        ...stream,
        credential: 'agents',
        method: 'DELETE',
        status: 403,
        outcome: 'refused',
        code: 'scope_not_covered',
        requestId: 'r3',
      },
      {
        credential: 'operators',
        method: 'POST',
        route: '/api/a/:type/:id/send',
        path: '/api/a/chat/a1/send',
        entity: '/t/default/a/chat/a1',
        status: 202,
        outcome: 'done',
        requestId: 'r4',
      },
      {
        credential: 'operators',
        method: 'PUT',
        route: '/registry/{*path}',
        path: '/registry/deployments/x',
        status: 502,
        outcome: 'failed',
        code: 'upstream_unreachable',
        requestId: 'r5',
      },
      {
        ...stream,
        credential: 'read-token',
        sub: `"${'x'.repeat(63)}`,
        method: 'PUT',
        status: 403,
        outcome: 'refused',
        code: 'read_only_token',
        requestId: 'r6',
      },
    ]);
    expect(audit(await linesOf({ ...env, GATEWAY_AUDIT_LOG: 'false' }, act))).toEqual([]);
  });
});

describe('the line of a request', () => {
  let answer: Script;
  const upstream = scriptedUpstream((...args) => answer(...args));

  const get = (gateway: TestGateway, path: string, headers = {}) =>
    fetch(gateway.url + path, { headers: { ...REQUEST_ID, ...headers } }).then((r) => r.text());

  it('has route and path and status, and the id that the client got', async () => {
    const lines = await linesOf({}, (gateway) => get(gateway, '/health?probe=1'));
    expect(lines).toEqual([
      { ...REQUEST_LINE, method: 'GET', route: '/health', path: '/health', status: 200 },
    ]);
  });

  it('has the upstream that a read went to', async () => {
    answer = (_request, response) => response.writeHead(304).end();
    const lines = await linesOf({ GATEWAY_HISTORY_URL: upstream.url }, (gateway) =>
      get(gateway, '/streams/t/x?offset=1_2', AUTHORIZED),
    );
    expect(lines).toEqual([{ ...READ_LINE, path: '/streams/t/x', status: 304 }]);
  });

  it('has the upstream that a command went to', async () => {
    answer = (_request, response) => response.writeHead(202).end(ACCEPTED);
    const lines = await linesOf(
      { GATEWAY_RUNTIME_INGRESS_URL: upstream.url, GATEWAY_AUDIT_LOG: 'false' },
      (gateway) =>
        fetch(`${gateway.url}/api/a/chat/a1/send`, {
          method: 'POST',
          headers: { ...AUTHORIZED, ...REQUEST_ID },
          body: '{}',
        }),
    );
    expect(lines).toEqual([
      {
        ...REQUEST_LINE,
        method: 'POST',
        route: '/api/a/:type/:id/send',
        path: '/api/a/chat/a1/send',
        status: 202,
        credential: API_KEY_NAME,
        upstream: 'runtime-ingress',
      },
    ]);
  });

  it('has the code of an error of the gateway, and no upstream that nothing was sent to', async () => {
    const lines = await linesOf({}, async (gateway) => {
      await get(gateway, '/streams/x');
      await get(gateway, '/nothing');
    });
    expect(lines).toEqual([
      {
        ...REQUEST_LINE,
        method: 'GET',
        route: '/streams/{*path}',
        path: '/streams/x',
        status: 401,
        code: 'missing_credentials',
      },
      { ...REQUEST_LINE, method: 'GET', path: '/nothing', status: 404, code: 'route_not_found' },
    ]);
  });

  it('comes with another one that has the cause where an upstream is to blame', async () => {
    const lines = await linesOf({}, (gateway) => get(gateway, '/streams/x', AUTHORIZED));
    expect(lines).toEqual([
      {
        ...EVERY_LINE,
        level: 'warn',
        code: 'upstream_unreachable',
        err: {
          type: 'Error',
          code: 'ECONNREFUSED',
          message: 'connect ECONNREFUSED 127.0.0.1:2',
          stack: expect.any(String),
        },
        message:
          'The server behind this route could not be reached, so nothing was sent; try again.',
      },
      { ...READ_LINE, status: 502, code: 'upstream_unreachable' },
    ]);
  });

  it('says 499 where the client went before the answer, and that the answer is broken', async () => {
    const arrived = Promise.withResolvers<void>();
    answer = () => arrived.resolve();
    const lines = await linesOf({ GATEWAY_HISTORY_URL: upstream.url }, async (gateway) => {
      const client = new AbortController();
      const parked = fetch(`${gateway.url}/streams/x`, {
        headers: { ...AUTHORIZED, ...REQUEST_ID },
        signal: client.signal,
      });
      await arrived.promise;
      client.abort();
      await expect(parked).rejects.toThrow('aborted');
    });
    expect(lines).toEqual([{ ...READ_LINE, status: 499, broken: true }]);
  });

  it('says that an answer is broken where the upstream broke it off', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    };
    const lines = await linesOf({ GATEWAY_HISTORY_URL: upstream.url }, async (gateway) => {
      await expect(get(gateway, '/streams/x', AUTHORIZED)).rejects.toThrow('terminated');
    });
    expect(lines).toEqual([{ ...READ_LINE, status: 200, broken: true }]);
  });

  it('is one line, and a short one, whatever the path', async () => {
    const lines = await linesOf({}, (gateway) =>
      sendRaw(gateway.port, rawRequest(`GET /a%0A"b${'c'.repeat(5000)}`, ['X-Request-Id: r1'])),
    );
    expect(lines).toEqual([
      {
        ...REQUEST_LINE,
        method: 'GET',
        path: `/a%0A"b${'c'.repeat(505)}`,
        status: 404,
        code: 'route_not_found',
      },
    ]);
  });

  it('is written for each probe, too', async () => {
    const probe = async (gateway: TestGateway): Promise<void> => {
      for (let i = 0; i < 2; i++) await get(gateway, '/health');
      await fetch(`${gateway.url}/health`, { method: 'POST', headers: REQUEST_ID });
    };
    const line = { ...REQUEST_LINE, path: '/health' };
    const good = { ...line, method: 'GET', route: '/health', status: 200 };
    const bad = { ...line, method: 'POST', status: 404, code: 'route_not_found' };
    expect(await linesOf({}, probe)).toEqual([good, good, bad]);
  });

  it('is left out above the level info, and the fault of an upstream is not', async () => {
    const lines = await linesOf({ GATEWAY_LOG_LEVEL: 'warn' }, (gateway) =>
      get(gateway, '/streams/x', AUTHORIZED),
    );
    expect(lines.map(({ level, code }) => ({ level, code }))).toEqual([
      { level: 'warn', code: 'upstream_unreachable' },
    ]);
  });
});

describe('a secret', () => {
  function expectNoTrace(gateway: TestGateway): void {
    expect(secretsIn(gateway.logLines.join('\n'))).toEqual([]);
  }

  it('of a client or of an upstream is not in the log when all goes well', async () => {
    const upstream = forThisTest(
      await startScriptedUpstream((_request, response) => {
        response.writeHead(202, { 'set-cookie': SECRET, 'x-token': SECRET });
        response.end(`{"invocationId":"inv_1","secret":"${SECRET}"}`);
      }),
    );
    const gateway = await startTestGateway(secretSettings(upstream.url));
    const sent = await sendSecrets(gateway.port);
    await gateway.stop();

    // CONNECT, which has its own way in, used to leave no line. Many refusals are summed up.
    const lines = logOf(gateway).map(({ message, refused = Number(message === 'request') }) =>
      Number(refused),
    );
    expect(lines.reduce((sum, count) => sum + count)).toBe(sent);
    expectNoTrace(gateway);
  });

  it.each([
    ['refuses connections', ''],
    ['closes at once', undefined],
    ['answers no HTTP', `${SECRET}\r\n\r\n`],
    ['garbles its headers', `HTTP/1.1 200 OK\r\nX-Token: ${SECRET}\r\n${SECRET}\0: x\r\n\r\n`],
    ['answers 500', `HTTP/1.1 500 ${SECRET}\r\nContent-Length: ${SECRET.length}\r\n\r\n${SECRET}`],
    ['is cut in its headers', `HTTP/1.1 200 OK\r\nX-Token: ${SECRET}`],
    ['is cut in its body', `HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n${SECRET}`],
    ['says nothing', 'nothing'],
  ])('is not in the log when an upstream %s', async (_, said) => {
    const upstream = forThisTest(
      await startRawUpstream((socket) => {
        if (said === undefined) socket.destroy();
        else if (said !== 'nothing') socket.once('data', () => socket.end(said));
        else socket.resume();
      }),
    );
    const gateway = await startTestGateway(
      secretSettings(said === '' ? 'http://127.0.0.1:2' : upstream.url),
    );
    await sendSecrets(gateway.port);
    await gateway.stop();

    expect(gateway.logLines.some((line) => /"code":"upstream_\w+"/.test(line))).toBe(true);
    expectNoTrace(gateway);
  });

  it('in the address of a key set or in its answer is not in the log', async () => {
    const keys = forThisTest(
      await startScriptedUpstream((_request, response) => response.end(SECRET)),
    );
    const gateway = await startTestGateway({
      GATEWAY_LOG_LEVEL: 'trace',
      GATEWAY_READ_TOKEN_JWKS: `${keys.url}/keys?key=${SECRET}`,
    });
    const claims = Buffer.from('{"alg":"ES256"}').toString('base64url');
    const response = await fetch(`${gateway.url}/streams/x`, {
      headers: { authorization: `Bearer ${claims}.e30.AAAA` },
    });
    expect(response.status).toBe(503);
    await gateway.stop();

    expect(gateway.logLines.join('\n')).toContain('GATEWAY_READ_TOKEN_JWKS cannot be read');
    expectNoTrace(gateway);
  });

  it('sent by a client that goes away in the middle is not in the log', async () => {
    const gateway = await startTestGateway({ GATEWAY_LOG_LEVEL: 'trace' });
    const socket = await openSocket(gateway.port);
    const headers = [`Authorization: Bearer ${API_KEY}`, 'Content-Length: 99'];
    socket.end(rawRequest('POST /api/spawn', headers, SECRET));
    await once(socket.resume(), 'close');
    await gateway.stop();

    expect(gateway.logLines.length).toBeGreaterThan(0);
    expectNoTrace(gateway);
  });
});
