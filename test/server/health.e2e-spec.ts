import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { choosePorts } from '../../local/stack/ports.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const NOT_CACHED = 'no-cache, no-store, must-revalidate';
const NOTHING_CHECKED = { status: 'ok', info: {}, error: {}, details: {} };
const DRAIN_PHASES = ['lame-duck', 'closing', 'refusing'] as const;
const REQUEST_ID = { 'x-request-id': 'the-request' };

const routeNotFound = {
  type: 'urn:agent-gateway:error:route_not_found',
  title: 'There is no such route',
  status: 404,
  detail: 'There is no such route, or not with this method; the HTTP API document lists them all.',
  code: 'route_not_found',
  requestId: 'the-request',
};

async function expectRouteNotFound(url: string, method = 'GET'): Promise<void> {
  const response = await fetch(url, { method, headers: REQUEST_ID });
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-request-id')).toBe('the-request');
  expect(await response.json()).toEqual(routeNotFound);
}

describe('the health of the public port', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.stop());

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

  it.each(['POST', 'PUT', 'DELETE'])('is not found with %s', (method) =>
    expectRouteNotFound(`${gateway.url}/health`, method),
  );

  it.each(['/health/live', '/health/ready', '/metrics', '/HEALTH'])('has no %s', (path) =>
    expectRouteNotFound(gateway.url + path),
  );

  it('has no management port where that is set to 0', () => {
    expect(gateway.managementUrl).toBeUndefined();
  });

  it('is 200 until new requests are refused while the gateway drains', async () => {
    const { state } = gateway.running;
    const statuses = [];
    for (state.phase of DRAIN_PHASES) {
      statuses.push((await fetch(`${gateway.url}/health`)).status);
    }
    expect(statuses).toEqual([200, 200, 503]);
  });
});

describe('the health of the public port with GATEWAY_HEALTH_FAILS_ON_DRAIN', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ GATEWAY_HEALTH_FAILS_ON_DRAIN: 'true' });
  });
  afterAll(() => gateway.stop());
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
      expect(await response.json()).toEqual({
        type: 'urn:agent-gateway:error:draining',
        title: 'This gateway is shutting down',
        status: 503,
        detail: 'This copy of the gateway is shutting down; try again.',
        code: 'draining',
        requestId: 'the-request',
      });
      expect((await get('HEAD')).status).toBe(503);
    }
  });
});

describe('the management port', () => {
  let history: ScriptedUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    history = await startScriptedUpstream((_request, response) => response.end());
    const { management } = await choosePorts({ management: 0 });
    gateway = await startTestGateway({
      GATEWAY_MANAGEMENT_PORT: String(management),
      GATEWAY_HISTORY_URL: `${history.url}/secret-mount`,
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await history.stop();
  });

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
  it.each(['/', '/health', '/health/READY', '/api/spawn', '/streams/x', '/%zz', '/x?secret=1'])(
    'has no %s',
    (path) => expectRouteNotFound(gateway.managementUrl + path),
  );

  it('has its routes for GET and HEAD only', async () => {
    await expectRouteNotFound(`${gateway.managementUrl}/health/live`, 'POST');
    const head = await fetch(`${gateway.managementUrl}/health/live`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });
});

describe('probes in the log', () => {
  async function loggedPaths(level: string): Promise<unknown[]> {
    const { management } = await choosePorts({ management: 0 });
    const gateway = await startTestGateway({
      GATEWAY_MANAGEMENT_PORT: String(management),
      GATEWAY_LOG_LEVEL: level,
    });
    await fetch(`${gateway.managementUrl}/health/live`);
    await fetch(`${gateway.managementUrl}/nothing`);
    await fetch(`${gateway.url}/health`);
    await gateway.stop();
    return gateway.logLines
      .map((line) => JSON.parse(line) as { message: string; path: string; listener?: string })
      .filter(({ message }) => message === 'request')
      .map(({ path, listener }) => ({ path, listener }));
  }

  it('are left out', async () => {
    expect(await loggedPaths('info')).toEqual([{ path: '/health' }]);
  });

  it('are there at the level debug', async () => {
    expect(await loggedPaths('debug')).toEqual([
      { path: '/health/live', listener: 'management' },
      { path: '/nothing', listener: 'management' },
      { path: '/health' },
    ]);
  });
});
