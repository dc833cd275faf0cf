import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { countConnectFailures, type ConnectFailures } from '../support/connect-failures.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startRawUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { startUnacceptingServer } from '../support/unaccepting-server.ts';

const ACCEPTED = '{"invocationId":"inv_1","status":"Accepted"}';
const PREVIOUSLY = '{"invocationId":"inv_1","status":"PreviouslyAccepted"}';
/** Far above every deadline of these tests, and below Node's own. Only a hang takes this long. */
const HANG_MS = 10_000;
const KEYED = { 'idempotency-key': 'k1' };

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gatewayTo(
  url: string,
  budgetMs: number,
  env: Record<string, string> = {},
): Promise<TestGateway> {
  const gateway = await startTestGateway({
    GATEWAY_RUNTIME_INGRESS_URL: url,
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(budgetMs),
    ...env,
  });
  cleanups.push(() => gateway.stop());
  return gateway;
}

interface Outcome {
  status: number;
  code: string | undefined;
  detail: string | undefined;
  isReplay: boolean;
  tookMs: number;
}

async function post(
  gateway: TestGateway,
  headers = {},
  id = 'a1',
  { signal }: { signal?: AbortSignal } = {},
): Promise<Outcome> {
  const startedAtMs = performance.now();
  const response = await fetch(`${gateway.url}/api/a/chat/${id}/send`, {
    method: 'POST',
    body: `to ${id}`,
    signal,
    headers: { ...AUTHORIZED, 'x-request-id': `to-${id}`, ...headers },
  });
  const { code, detail } = (await response.json()) as { code?: string; detail?: string };
  return {
    status: response.status,
    code,
    detail,
    isReplay: response.headers.get('idempotency-replayed') === 'true',
    tookMs: performance.now() - startedAtMs,
  };
}

describe('a runtime that refuses connections', () => {
  // With a key or without, commands were given up after two seconds, and at most 11 attempts, of their fifteen.
  it.each([
    ['without a key', {}],
    ['with a key', KEYED],
  ])(
    'and comes up within the budget gets every command %s once',
    async (_, headers) => {
      const port = await freePort();
      const gateway = await gatewayTo(`http://127.0.0.1:${port}`, 30_000);
      const failed = connectFailures();
      const first = post(gateway, headers, 'first');
      const early = first.then(({ status }) => `answered with ${status}`);
      expect(await Promise.race([early, failed.until(12)])).toBeUndefined();
      const ids = Array.from({ length: 20 }, (__, i) => `a${i}`);
      const commands = [first, ...ids.map((id) => post(gateway, headers, id))];
      await failed.until(12 + ids.length);

      const seen = await startRuntime(port);
      for (const { status } of await Promise.all(commands)) expect(status).toBe(202);
      expect(seen.sort()).toEqual(['first', ...ids].map((id) => `/chat/${id}/wake/send`).sort());
    },
    30_000,
  );

  it.each([
    ['without a key', {}],
    ['with a key', KEYED],
  ])(
    'for good is asked again with back-off until the time of a command %s is over',
    async (_, headers) => {
      const gateway = await gatewayTo('http://127.0.0.1:1', 1_500);
      const failed = connectFailures();
      const { status, code, detail } = await post(gateway, headers);
      expect({ status, code, detail }).toEqual({
        status: 502,
        code: 'upstream_unreachable',
        detail: 'The server behind this route could not be reached; try again.',
      });
      expect(failed.count).toBeGreaterThanOrEqual(4);
      expect(failed.count).toBeLessThanOrEqual(10);
    },
  );

  // Each tried by itself: 2,000 that waited took a whole processor with 5,000 attempts a second.
  it('is asked again by one of all the commands that wait', async () => {
    const gateway = await gatewayTo('http://127.0.0.1:1', 2_500);
    const failed = connectFailures();
    const commands = Array.from({ length: 50 }, (_, i) => post(gateway, KEYED, `a${i}`));
    for (const { status } of await Promise.all(commands)) expect(status).toBe(502);
    // One each, those of the one that tries for all, and one each where that one's time was up. By
    // themselves they would come to 400, as each wait is at most half a second.
    expect(failed.count).toBeGreaterThan(50);
    expect(failed.count).toBeLessThan(160);
  });

  // Sent then it is the second one, where the client tries again by itself after a time of its own.
  it('gets nothing of a command without a key whose client has gone; one with a key goes through', async () => {
    const port = await freePort();
    const gateway = await gatewayTo(`http://127.0.0.1:${port}`, 30_000);
    const failed = connectFailures();
    const leaving = new AbortController();
    const gone = [post(gateway, KEYED, 'keyed', leaving), post(gateway, {}, 'gone', leaving)];
    await failed.until(2);
    leaving.abort();
    await Promise.allSettled(gone);
    const staying = post(gateway, {}, 'stays');
    await failed.until(failed.count + 3);

    const seen = await startRuntime(port);
    expect((await staying).status).toBe(202);
    await gateway.running.close();
    expect(seen.sort()).toEqual(['/chat/keyed/wake/send', '/chat/stays/wake/send']);
  }, 30_000);

  it.each([
    ['refuses', 'http://127.0.0.1:1'],
    // A label of 64 characters: the resolver says no without asking anyone.
    ['has no address', `http://${'x'.repeat(64)}.invalid:8080`],
  ])('or %s is given up within the budget', async (_, url) => {
    const gateway = await gatewayTo(url, 300);
    const { status, code, tookMs } = await post(gateway, KEYED);
    expect([status, code]).toEqual([502, 'upstream_unreachable']);
    expect(tookMs).toBeLessThan(HANG_MS);
  });
});

describe('a runtime that takes no connection', () => {
  it.each([
    ['the time to connect', '100', {}],
    // A command that waited for a connection once heard nothing of the end of its time.
    ['the budget, without a key', '60000', {}],
    ['the budget, with a key', '60000', KEYED],
  ])('is given up after %s', async (_, connectMs, headers) => {
    const server = await startUnacceptingServer();
    cleanups.push(() => server.stop());
    const env = { GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: connectMs };
    const gateway = await gatewayTo(server.url, 400, env);

    const { status, code, tookMs } = await post(gateway, headers);
    expect([status, code]).toEqual([502, 'upstream_unreachable']);
    expect(tookMs).toBeLessThan(HANG_MS);
  });

  it('gets nothing of a command whose time was up before the connection came', async () => {
    const server = await startUnacceptingServer();
    cleanups.push(() => server.stop());
    const gateway = await gatewayTo(server.url, 200, {
      GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '60000',
    });
    expect((await post(gateway)).status).toBe(502);
    expect(await server.acceptUntilOneCloses()).toBe(0);
  });
});

describe('a connection that is lost before the answer', () => {
  it('is followed by the same command again, where it has a key', async () => {
    let requests = 0;
    const runtime = await startScriptedUpstream((request, response) => {
      requests += 1;
      if (requests === 1) request.socket.resetAndDestroy();
      else if (requests === 2) request.socket.end();
      else response.writeHead(202).end(PREVIOUSLY);
    });
    cleanups.push(() => runtime.stop());
    const gateway = await gatewayTo(runtime.url, 15_000);

    expect(await post(gateway, KEYED)).toMatchObject({ status: 202, isReplay: true });
    expect(runtime.seen).toHaveLength(3);
    expect(runtime.seen[0]?.headers).toMatchObject({
      'idempotency-key': 'k1',
      'x-request-id': 'to-a1',
    });
    expect(runtime.seen[1]).toEqual(runtime.seen[0]);
    expect(runtime.seen[2]).toEqual(runtime.seen[0]);
  });

  it('ends a command without a key, also on a kept connection', async () => {
    let requests = 0;
    const runtime = await startScriptedUpstream((request, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(202).end(ACCEPTED);
      else request.socket.resetAndDestroy();
    });
    cleanups.push(() => runtime.stop());
    const gateway = await gatewayTo(runtime.url, 15_000);

    expect((await post(gateway)).status).toBe(202);
    expect(runtime.openSockets.size).toBe(1);
    expect(await post(gateway)).toMatchObject({ status: 502, code: 'upstream_unreachable' });
    expect(requests).toBe(2);
  });

  it('again and again is given up within the budget, and not asked in a hot loop', async () => {
    let requests = 0;
    const runtime = await startScriptedUpstream((request) => {
      requests += 1;
      request.socket.resetAndDestroy();
    });
    cleanups.push(() => runtime.stop());
    const gateway = await gatewayTo(runtime.url, 600);

    const { status, code, tookMs } = await post(gateway, KEYED);
    expect([status, code]).toEqual([502, 'upstream_unreachable']);
    expect(tookMs).toBeLessThan(HANG_MS);
    expect(requests).toBeGreaterThanOrEqual(3);
    expect(requests).toBeLessThanOrEqual(7);
  });

  // It was once told that the runtime "could not be reached; try again".
  it('is what the client is told, also where no later attempt finds the runtime', async () => {
    const runtime = await startScriptedUpstream(() => void runtime.stop());
    const gateway = await gatewayTo(runtime.url, 1_500);
    const { status, code, detail } = await post(gateway, KEYED);
    expect({ status, code, detail }).toEqual({
      status: 502,
      code: 'upstream_unreachable',
      detail:
        'The connection to the runtime was lost before it answered; nothing is known of the command. ' +
        'With an Idempotency-Key it can be repeated safely.',
    });
    expect(runtime.seen).toHaveLength(1);
  });

  it('within an answer ends the command, with a key or without', async () => {
    let requests = 0;
    const runtime = await startRawUpstream((socket) => {
      socket.once('data', () => {
        requests += 1;
        socket.end('HTTP/1.1 202 Accepted\r\nContent-Le');
      });
    });
    cleanups.push(() => runtime.stop());
    const gateway = await gatewayTo(runtime.url, 15_000);
    for (const headers of [{}, KEYED]) {
      const outcome = await post(gateway, headers);
      expect(outcome).toMatchObject({ status: 502, code: 'upstream_invalid_response' });
    }
    expect(requests).toBe(2);
  });
});

describe('a runtime that is silent', () => {
  it('is asked again after half the budget, where the command has a key', async () => {
    const closed = Promise.withResolvers<void>();
    const unkeyed = Promise.withResolvers<ServerResponse>();
    const targets: string[] = [];
    const runtime = await startScriptedUpstream((request, response) => {
      targets.push(request.url ?? '');
      if (request.headers['idempotency-key'] === undefined) {
        unkeyed.resolve(response);
      } else if (targets.filter((target) => target === request.url).length === 1) {
        request.socket.once('close', () => closed.resolve());
      } else {
        response.writeHead(202).end(ACCEPTED);
      }
    });
    cleanups.push(() => runtime.stop());
    const gateway = await gatewayTo(runtime.url, 1_600);

    // One without a key is not sent again, so it may wait for longer than half the budget.
    const waiting = post(gateway, {}, 'unkeyed');
    const slow = await unkeyed.promise;
    const keyed = await post(gateway, KEYED, 'keyed');
    await closed.promise;
    slow.writeHead(202).end(ACCEPTED);

    expect(keyed.status).toBe(202);
    expect(keyed.tookMs).toBeGreaterThan(800);
    expect(await waiting).toMatchObject({ status: 202 });
    expect(targets).toEqual([
      '/chat/unkeyed/wake/send',
      '/chat/keyed/wake/send',
      '/chat/keyed/wake/send',
    ]);
  });

  it.each([
    ['once, where the command has no key', {}, 1],
    ['a few times, where it has one', KEYED, 7],
  ])(
    'for good is asked %s, within the budget, and left with no connection',
    async (_, headers, most) => {
      const closed: Promise<unknown>[] = [];
      const runtime = await startScriptedUpstream((request) => {
        closed.push(once(request.socket, 'close'));
      });
      cleanups.push(() => runtime.stop());
      const gateway = await gatewayTo(runtime.url, 600);

      const { status, code, tookMs } = await post(gateway, headers);
      expect([status, code]).toEqual([502, 'upstream_timeout']);
      expect(tookMs).toBeLessThan(HANG_MS);
      expect(runtime.seen.length).toBeGreaterThanOrEqual(Math.min(most, 2));
      expect(runtime.seen.length).toBeLessThanOrEqual(most);
      await Promise.all(closed);
      expect(runtime.openSockets.size).toBe(0);
    },
  );
});

/** A port on which nothing listens at the moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a runtime that accepts commands. Returns the targets that it received. */
async function startRuntime(port: number): Promise<string[]> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    request.resume().once('end', () => response.writeHead(202).end(ACCEPTED));
  });
  server.listen(port, '127.0.0.1');
  cleanups.push(async () => {
    server.close().closeAllConnections();
    await once(server, 'close');
  });
  await once(server, 'listening');
  return seen;
}

function connectFailures(): ConnectFailures {
  const failures = countConnectFailures();
  cleanups.push(async () => failures.stop());
  return failures;
}
