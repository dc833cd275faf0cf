import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { awaited } from '../support/until.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { problem } from '../support/ask-raw.ts';
import { startTestGateway } from '../support/gateway.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { logOf, scriptedUpstream, testGateway } from '../support/scripted-gateway.ts';

const NOT_CACHED = 'no-cache, no-store, must-revalidate';
const NOTHING_CHECKED = { status: 'ok', info: {}, error: {}, details: {} };
const DRAIN_PHASES = ['lame-duck', 'closing', 'refusing'] as const;
const REQUEST_ID = { 'x-request-id': 'the-request' };

const routeNotFound = problem(
  404,
  'route_not_found',
  'There is no such route',
  'There is no such route, or not with this method; the HTTP API document lists them all.',
  'the-request',
);

async function expectRouteNotFound(url: string | undefined, line: string): Promise<void> {
  const [method, path] = line.split(' ');
  const response = await fetch(`${url}${path}`, { method, headers: REQUEST_ID });
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-request-id')).toBe('the-request');
  expect(await response.json()).toEqual(routeNotFound);
}

/** The setting of a management port that is free; 0 would turn it off. */
async function managed(): Promise<Record<string, string>> {
  const { management } = await choosePorts({ management: 0 });
  return { GATEWAY_MANAGEMENT_PORT: String(management) };
}

describe('the health of the public port', () => {
  const gateway = testGateway();

  it('is 200 without a credential although no upstream is there', async () => {
    const response = await fetch(`${gateway.url}/health`, {
      headers: { ...REQUEST_ID, origin: 'https://app.example' },
    });

    expect(response.status).toBe(200);
    const { date, ...headers } = Object.fromEntries(response.headers);
    expect(date).toEqual(expect.any(String));
    expect(headers).toEqual({
      'content-type': 'application/json',
      'content-length': String(JSON.stringify(NOTHING_CHECKED).length),
      'cache-control': NOT_CACHED,
      'x-request-id': 'the-request',
      connection: 'keep-alive',
      'keep-alive': 'timeout=75',
    });
    expect(await response.json()).toEqual(NOTHING_CHECKED);
  });

  it('does not look at a credential that is wrong', async () => {
    const headers = { authorization: 'Bearer not-a-key' };
    expect((await fetch(`${gateway.url}/health`, { headers })).status).toBe(200);
  });

  it.each([
    'POST /health',
    'PUT /health',
    'DELETE /health',
    'GET /health/live',
    'GET /health/ready',
    'GET /metrics',
    'GET /HEALTH',
  ])('has no %s', (line) => expectRouteNotFound(gateway.url, line));

  it('has no management port where that is set to 0', () => {
    expect(gateway.managementUrl).toBeUndefined();
  });

  it('is 200 while the gateway drains', async () => {
    const { state } = gateway.running;
    const statuses = [];
    for (state.phase of DRAIN_PHASES) {
      statuses.push((await fetch(`${gateway.url}/health/`)).status);
      statuses.push((await fetch(`${gateway.url}/health`)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });
});

describe('the health of the public port with GATEWAY_HEALTH_FAILS_ON_DRAIN', () => {
  const gateway = testGateway(() => ({ GATEWAY_HEALTH_FAILS_ON_DRAIN: 'true' }));
  const get = (method = 'GET'): Promise<Response> =>
    fetch(`${gateway.url}/health`, { method, headers: REQUEST_ID });

  it('is 200 while the gateway serves', async () => {
    expect((await get()).status).toBe(200);
    expect((await get('HEAD')).status).toBe(200);
  });

  // A load balancer that can ask the public port alone sent new connections until the listener closed, and those failed.
  it('is 503 in each phase of the drain', async () => {
    for (gateway.running.state.phase of DRAIN_PHASES) {
      const response = await get();
      expect(response.status).toBe(503);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('retry-after')).toBe('1');
      expect(await response.json()).toEqual(
        problem(
          503,
          'draining',
          'This gateway is shutting down',
          'This copy of the gateway is shutting down; try again.',
          'the-request',
        ),
      );
      expect((await get('HEAD')).status).toBe(503);
    }
  });
});

describe('the management port', () => {
  const history = scriptedUpstream((_request, response) => response.end());
  const gateway = testGateway(async () => ({
    ...(await managed()),
    GATEWAY_HISTORY_URL: `${history.url}/secret-mount`,
  }));

  const get = (path: string) =>
    fetch(`${gateway.managementUrl}/health/${path}`, { headers: REQUEST_ID });

  const upstreams = {
    'runtime-ingress': { status: 'up', state: 'unreachable' },
    'runtime-admin': { status: 'up', state: 'unreachable' },
    history: { status: 'up', state: 'reachable' },
    sync: { status: 'up', state: 'unreachable' },
  };

  it('is live', async () => {
    const response = await get('live');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe(NOT_CACHED);
    expect(response.headers.get('x-request-id')).toBe('the-request');
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(await response.json()).toEqual(NOTHING_CHECKED);
  });

  it('is ready although upstreams are out of reach, and names the state of each', async () => {
    const response = await get('ready');
    expect(response.status).toBe(200);
    const details = { gateway: { status: 'up' }, ...upstreams };
    expect(await response.json()).toEqual({ status: 'ok', info: details, error: {}, details });
  });

  it('looks at an upstream without a request to it', async () => {
    await get('ready');
    expect(history.seen).toEqual([]);
  });

  it('is not ready but live while the gateway drains', async () => {
    const { state } = gateway.running;
    for (state.phase of DRAIN_PHASES) {
      const response = await get('ready');
      expect(response.status).toBe(503);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe(NOT_CACHED);
      const down = { gateway: { status: 'down', state: 'draining' } };
      expect(await response.json()).toEqual({
        status: 'error',
        info: upstreams,
        error: down,
        details: { ...down, ...upstreams },
      });
      expect((await get('live')).status).toBe(200);
    }
    state.phase = 'serving';
    expect((await get('ready')).status).toBe(200);
  });

  // Nest's own 404 was answered here, in another form than every other error.
  it.each([
    'GET /',
    'GET /health',
    'GET /health/READY',
    'GET /api/spawn',
    'GET /streams/x',
    'GET /%zz',
    'GET /x?secret=1',
    'POST /health/live',
  ])('has no %s', (line) => expectRouteNotFound(gateway.managementUrl, line));

  it.each([
    ['a body', 'GET /metrics', ['Content-Length: 1'], 'unexpected_body'],
    ['a target that is no path', 'GET http://elsewhere/metrics', [], 'malformed_path'],
    // Express answered it before any step, in a form of its own.
    ['a target that is none at all', 'GET http://[/metrics', [], 'malformed_path'],
    ['a fragment', 'GET /health/ready#x', [], 'malformed_path'],
  ])('refuses %s', async (_, line, headers, code) => {
    const { port } = new URL(gateway.managementUrl ?? '');
    const { status, body } = await rawAnswer(Number(port), line, headers);
    expect([status, JSON.parse(body.toString()).code]).toEqual([400, code]);
  });

  // Node tells such a request to other listeners than those of requests, and nobody answered.
  it.each(['100-continue', 'anything'])('answers a request that expects %s', async (what) => {
    const { port } = new URL(gateway.managementUrl ?? '');
    const answer = await rawAnswer(Number(port), 'GET /health/live', [`Expect: ${what}`]);
    expect(answer.status).toBe(200);
  });

  it('has its routes for HEAD too', async () => {
    const head = await fetch(`${gateway.managementUrl}/health/live`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });
});

// The end of the process waited for them until the drain's time was over.
it.each([
  ['has only connected', ''],
  ['stops in its head', 'GET /health/live HTTP/1.1\r\n'],
])('a client of the management port that %s does not hold up the end', async (_, sent) => {
  const gateway = await startTestGateway(await managed());
  const client = connect(Number(new URL(gateway.managementUrl ?? '').port), '127.0.0.1');
  // Closed by a reset, or in order.
  client.on('error', () => undefined);
  const closed = new Promise((resolve) => client.once('close', resolve));
  await once(client, 'connect');
  if (sent) await new Promise((resolve) => client.write(sent, resolve));
  // The gateway accepts connections in their order. It resets those that it has not accepted when it stops to listen.
  await fetch(`${gateway.managementUrl}/health/live`);
  await awaited('the end of the gateway', gateway.stop());
  await awaited('the end of the connection', closed);
});

describe('probes in the log', () => {
  it.each([
    ['left out by default', 'info', [{ path: '/health' }]],
    [
      'there at the level debug',
      'debug',
      [
        { path: '/health/live', listener: 'management' },
        { path: '/nothing', listener: 'management' },
        { path: '/health' },
      ],
    ],
  ])('are %s', async (_, level, logged) => {
    const gateway = await startTestGateway({ ...(await managed()), GATEWAY_LOG_LEVEL: level });
    await fetch(`${gateway.managementUrl}/health/live`);
    await fetch(`${gateway.managementUrl}/nothing`);
    await fetch(`${gateway.url}/health`);
    await gateway.stop();
    const requests = logOf(gateway).filter(({ message }) => message === 'request');
    expect(requests.map(({ path, listener }) => ({ path, listener }))).toEqual(logged);
  });
});
