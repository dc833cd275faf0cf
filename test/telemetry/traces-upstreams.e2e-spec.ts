import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCatalog, type Catalog } from '../../local/catalog/catalog-server.ts';
import { Collector } from '../support/collector.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { recordingAgent } from '../support/recording-agent.ts';
import { registerAgents, restateUrls, type RegisteredAgents } from '../support/restate.ts';

const TYPE = 'traces-probe';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACED = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };
const TIMELINE = '/streams/t/default/agents/chat/a1/timeline';

const probe = recordingAgent(TYPE);
let agents: RegisteredAgents;
let history: RunningHistory;
let catalog: Catalog;
let collector: Collector;
let gateway: TestGateway;

beforeAll(async () => {
  agents = await registerAgents([probe.service]);
  history = await startHistory();
  catalog = await startCatalog({ port: 0, databasePath: ':memory:', secret: 'very-secret' });
  collector = await Collector.start();
  gateway = await startTestGateway({
    GATEWAY_RUNTIME_INGRESS_URL: restateUrls().ingressUrl,
    GATEWAY_RUNTIME_ADMIN_URL: restateUrls().adminUrl,
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
    GATEWAY_SYNC_SECRET: 'very-secret',
    ...collector.environment,
  });
});
afterAll(async () => {
  // When the store stops it forgets every second read that waits (@durable-streams/server 0.3.7), and the timers of
  // those keep this process alive for 30 s. An event ends all of them.
  await append('t-last', 2);
  await gateway?.stop();
  await collector?.stop();
  await catalog?.stop();
  await history?.stop();
  await agents?.stop();
});

interface Options extends RequestInit {
  headers?: Record<string, string>;
}

function ask(id: string, path: string, options: Options = {}): Promise<Response> {
  const headers = { ...AUTHORIZED, ...TRACED, 'x-request-id': id, ...options.headers };
  return fetch(gateway.url + path, { ...options, headers });
}

async function whole(id: string, path: string, options?: Options): Promise<Response> {
  const response = await ask(id, path, options);
  await response.text();
  return response;
}

async function append(id: string, seq: number): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const response = await whole(id, TIMELINE, {
    method: 'POST',
    headers: json,
    body: JSON.stringify([{ seq }]),
  });
  expect(response.ok).toBe(true);
}

/** The single upstream call of a request. It must belong to the client's trace and lie within the request. */
async function onlyCallOf(id: string) {
  const { server, clients } = await collector.ofRequest(id, 1);
  const [client] = clients;
  if (!client || clients.length > 1) throw new Error(`${clients.length} calls`);
  expect(server.traceId).toBe(TRACE_ID);
  expect(client.traceId).toBe(TRACE_ID);
  expect(client.startNs).toBeGreaterThanOrEqual(server.startNs);
  return { server, client };
}

describe('the trace of', () => {
  it('a command continues into the run of its handler', async () => {
    const spawn = { method: 'POST', body: `{"type":"${TYPE}","id":"traced"}` };
    expect((await whole('t-command', '/api/spawn', spawn)).status).toBe(202);
    const { server, client } = await onlyCallOf('t-command');
    expect(server.attributes).toMatchObject({
      'gateway.entity.type': TYPE,
      'gateway.invocation.id': expect.stringMatching(/^inv_\w+$/),
    });
    const { headers } = await probe.firstRun('traced');
    expect(headers.traceparent).toBe(`00-${TRACE_ID}-${client.spanId}-01`);
  });

  it('a timeline has its writes, its reads, and a long-poll when it is answered', async () => {
    const json = { 'content-type': 'application/json' };
    await whole('t-create', TIMELINE, { method: 'PUT', headers: json });
    expect((await onlyCallOf('t-create')).client.name).toBe('PUT');
    await append('t-append', 0);
    expect((await onlyCallOf('t-append')).client.name).toBe('POST');

    const read = await whole('t-read', `${TIMELINE}?offset=-1`);
    const { server } = await onlyCallOf('t-read');
    expect(server.attributes['gateway.read.live']).toBeUndefined();

    const offset = read.headers.get('stream-next-offset');
    const polling = whole('t-poll', `${TIMELINE}?offset=${offset}&live=long-poll`);
    await append('t-append-2', 1);
    expect((await polling).status).toBe(200);
    const poll = await onlyCallOf('t-poll');
    expect(poll.server.attributes['gateway.read.live']).toBe('long-poll');
    expect(poll.client.attributes).toMatchObject({
      'url.full': `${history.url}${TIMELINE.slice('/streams'.length)}`,
      'http.response.status_code': 200,
    });
  });

  it('an open stream of events has its spans when the stream has ended, not before', async () => {
    const reader = new AbortController();
    const stream = await ask('t-stream', `${TIMELINE}?offset=-1&live=sse`, {
      signal: reader.signal,
    });
    const body = stream.body?.getReader();
    expect((await body?.read())?.value?.length).toBeGreaterThan(0);

    // What ended later was exported: had the stream's spans been made, they would be there.
    await whole('t-meanwhile', `${TIMELINE}?offset=-1`);
    await onlyCallOf('t-meanwhile');
    const ofStream = () =>
      collector.spans.filter((span) => span.attributes['gateway.request.id'] === 't-stream');
    expect(ofStream()).toEqual([]);

    reader.abort();
    const { server, client } = await onlyCallOf('t-stream');
    expect(server).toMatchObject({
      status: 'unset',
      attributes: { 'gateway.read.live': 'sse', 'gateway.response.broken': true },
    });
    expect(client).toMatchObject({
      status: 'unset',
      attributes: { 'http.response.status_code': 200, 'gateway.call.canceled': true },
    });
  });

  it('a shared stream of events is the first reader’s, and linked by the others', async () => {
    const open = async (id: string, traceparent: string) => {
      const reader = new AbortController();
      const headers = { traceparent };
      const stream = await ask(id, `${TIMELINE}?offset=-1&live=sse`, {
        headers,
        signal: reader.signal,
      });
      await stream.body?.getReader().read();
      return reader;
    };
    const otherTrace = 'f'.repeat(32);
    const first = await open('t-first', TRACED.traceparent);
    const second = await open('t-second', `00-${otherTrace}-b7ad6b7169203331-01`);
    first.abort();
    const ofFirst = await collector.ofRequest('t-first', 0);
    second.abort();
    const ofSecond = await collector.ofRequest('t-second', 0);
    const calls = await collector.until(
      1,
      ({ parentSpanId }) => parentSpanId === ofFirst.server.spanId,
    );

    expect(ofFirst.server.traceId).toBe(TRACE_ID);
    expect(ofFirst.server.links).toEqual([]);
    expect(ofFirst.server.attributes['gateway.read.shared']).toBeUndefined();
    expect(calls).toMatchObject([{ traceId: TRACE_ID, name: 'GET' }]);
    // The call went on when the first reader had gone.
    expect(calls[0]?.endNs).toBeGreaterThan(ofFirst.server.endNs);
    expect(ofSecond.clients).toEqual([]);
    expect(ofSecond.server).toMatchObject({
      traceId: otherTrace,
      links: [{ traceId: TRACE_ID, spanId: calls[0]?.spanId }],
      attributes: { 'gateway.read.shared': true, 'gateway.read.live': 'sse' },
    });
  });

  it('a shape shows no query, in which the catalog’s secret goes', async () => {
    const shape = await whole('t-shape', '/shapes/v1/shape?table=entities&offset=-1');
    expect(shape.status).toBe(200);
    const { server, client } = await onlyCallOf('t-shape');
    expect(server.name).toBe('GET /shapes/{*path}');
    expect(client.attributes).toEqual({
      'http.request.method': 'GET',
      'url.full': `${catalog.url}/v1/shape`,
      'server.address': new URL(catalog.url).hostname,
      'server.port': Number(new URL(catalog.url).port),
      'peer.service': 'sync',
      'http.response.status_code': 200,
    });
  });

  it('a registry call names the admin API', async () => {
    expect((await whole('t-registry', '/registry/deployments')).status).toBe(200);
    const { server, client } = await onlyCallOf('t-registry');
    expect(server.name).toBe('GET /registry/{*path}');
    expect(client.attributes).toMatchObject({
      'url.full': `${restateUrls().adminUrl.replace(/\/$/, '')}/deployments`,
      'peer.service': 'runtime-admin',
    });
  });
});
