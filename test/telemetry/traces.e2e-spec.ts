import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Collector } from '../support/collector.ts';
import { forAllTests, forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { startMeasuredGateway } from '../support/measured-gateway.ts';
import { openSocket } from '../support/open-socket.ts';
import { rawRequest, sendRaw } from '../support/raw-client.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import type { Script } from '../support/scripted-upstream.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACED = { traceparent: `00-${TRACE_ID}-${CALLER}-01`, tracestate: 'vendor=value, b=c' };

/** The attributes of every read of /streams/t/x. */
const READ = {
  'http.request.method': 'GET',
  'url.path': '/streams/t/x',
  'url.scheme': 'http',
  'http.route': '/streams/{*path}',
};

let collector: Collector;
let answer: Script;
beforeAll(async () => void (collector = await Collector.start()));
const upstream = scriptedUpstream((...args) => answer(...args));
const gateway = forAllTests(() =>
  startMeasuredGateway({
    GATEWAY_HISTORY_URL: `${upstream.url}/v1/stream`,
    GATEWAY_SYNC_URL: upstream.url,
    GATEWAY_SYNC_SECRET: 'very-secret',
    GATEWAY_RUNTIME_INGRESS_URL: upstream.url,
    GATEWAY_RUNTIME_ADMIN_URL: `${upstream.url}/admin`,
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '2000',
    ...collector.environment,
  }),
);
afterAll(() => collector?.stop());

let requests = 0;

/** Sends a request with an id of its own; its spans are found by that. */
async function ask(method: string, path: string, headers = {}, body?: string) {
  const id = `trace-${requests++}`;
  const response = await fetch(gateway.url + path, {
    method,
    headers: { ...AUTHORIZED, 'x-request-id': id, ...headers },
    ...(body !== undefined && { body }),
  });
  return { id, status: response.status, text: await response.text() };
}

const accept: Script = (_request, response) => response.writeHead(202).end(ACCEPTED);

describe('the spans of a request', () => {
  it('are one of the gateway’s own and one for its upstream, which is told of the latter', async () => {
    answer = (_request, response) => response.end('events');
    const { id } = await ask('GET', '/streams/t/x?offset=1_2&secret=very-secret', TRACED);
    const { server, clients } = await collector.ofRequest(id, 1);
    expect(server).toEqual({
      name: 'GET /streams/{*path}',
      kind: 'server',
      traceId: TRACE_ID,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      parentSpanId: CALLER,
      traceState: '',
      startNs: expect.any(BigInt),
      endNs: expect.any(BigInt),
      attributes: {
        ...READ,
        'http.response.status_code': 200,
        'gateway.request.id': id,
      },
      status: 'unset',
      statusMessage: '',
      links: [],
      resource: {
        'service.name': 'agent-gateway',
        'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
        'service.instance.id': expect.any(String),
        'gateway.tenant': 'default',
        'telemetry.sdk.language': 'nodejs',
        'telemetry.sdk.name': 'opentelemetry',
        'telemetry.sdk.version': expect.any(String),
      },
    });
    expect(clients).toEqual([
      {
        name: 'GET',
        kind: 'client',
        traceId: TRACE_ID,
        spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
        parentSpanId: server.spanId,
        traceState: '',
        startNs: expect.any(BigInt),
        endNs: expect.any(BigInt),
        attributes: {
          'http.request.method': 'GET',
          'url.full': `${upstream.url}/v1/stream/t/x`,
          'server.address': '127.0.0.1',
          'server.port': upstream.port,
          'peer.service': 'history',
          'http.response.status_code': 200,
        },
        status: 'unset',
        statusMessage: '',
        links: [],
        resource: server.resource,
      },
    ]);
    expect(upstream.seen.at(-1)?.headers).toMatchObject({
      traceparent: `00-${TRACE_ID}-${clients[0]?.spanId}-01`,
    });
    // Others may share the upstream request of a read, and it is the state of one.
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('tracestate');
  });

  const spawn = '{"type":"chat","id":"a1"}';
  it.each([
    ['GET', '/streams/t/x', undefined, 'history', '/v1/stream/t/x'],
    ['PUT', '/streams/t/x', 'made', 'history', '/v1/stream/t/x'],
    ['POST', '/streams/t/x', 'more', 'history', '/v1/stream/t/x'],
    ['DELETE', '/streams/t/x', undefined, 'history', '/v1/stream/t/x'],
    ['GET', '/shapes/v1/shape?table=entities', undefined, 'sync', '/v1/shape'],
    ['GET', '/registry/deployments', undefined, 'runtime-admin', '/admin/deployments'],
    ['POST', '/registry/deployments', '{}', 'runtime-admin', '/admin/deployments'],
    ['POST', '/api/spawn', spawn, 'runtime-ingress', '/chat/a1/spawn/send'],
    ['POST', '/api/a/chat/a1/send', 'hi', 'runtime-ingress', '/chat/a1/wake/send'],
    [
      'POST',
      '/api/t/default/a/chat/a1/control',
      '{"verb":"pause"}',
      'runtime-ingress',
      '/chat/a1/control/send',
    ],
  ] as const)(
    'of %s %s are parent and child, with the upstream told',
    async (method, path, body, peer, target) => {
      answer = accept;
      const { id, status } = await ask(method, path, TRACED, body);
      expect(status).toBe(202);
      const { server, clients } = await collector.ofRequest(id, 1);
      expect(server).toMatchObject({ traceId: TRACE_ID, parentSpanId: CALLER });
      expect(clients).toMatchObject([
        {
          name: method,
          traceId: TRACE_ID,
          parentSpanId: server.spanId,
          attributes: { 'url.full': upstream.url + target, 'peer.service': peer },
        },
      ]);
      // A second one would be another parent, or make both invalid.
      const sent = upstream.seen.at(-1)?.rawHeaders.filter((header) => header === 'traceparent');
      expect(sent).toEqual(['traceparent']);
      expect(upstream.seen.at(-1)?.headers).toMatchObject({
        traceparent: `00-${TRACE_ID}-${clients[0]?.spanId}-01`,
        ...(peer === 'runtime-ingress' && { tracestate: TRACED.tracestate }),
      });
    },
  );

  it('of a command name its entity’s type and the invocation that it began', async () => {
    answer = accept;
    const { id } = await ask('POST', '/api/spawn', {}, spawn);
    const { server } = await collector.ofRequest(id, 1);
    expect(server.attributes).toEqual({
      'http.request.method': 'POST',
      'url.path': '/api/spawn',
      'url.scheme': 'http',
      'http.route': '/api/spawn',
      'http.response.status_code': 202,
      'gateway.request.id': id,
      'gateway.entity.type': 'chat',
      'gateway.invocation.id': 'inv_1',
    });
  });

  it('of a command that is sent again are one for each attempt', async () => {
    let attempts = 0;
    answer = (request, ...rest) => {
      if (attempts++ === 0) request.socket.resetAndDestroy();
      else accept(request, ...rest);
    };
    const { id, status } = await ask('POST', '/api/a/chat/a1/send', { 'idempotency-key': 'k1' });
    expect(status).toBe(202);
    const { server, clients } = await collector.ofRequest(id, 2);
    expect(server.status).toBe('unset');
    const common = {
      'http.request.method': 'POST',
      'url.full': `${upstream.url}/chat/a1/wake/send`,
      'server.address': '127.0.0.1',
      'server.port': upstream.port,
      'peer.service': 'runtime-ingress',
    };
    expect(clients).toMatchObject([
      { status: 'error', parentSpanId: server.spanId },
      { status: 'unset', parentSpanId: server.spanId },
    ]);
    expect(clients.map(({ attributes }) => attributes)).toEqual([
      // The connection may have been kept.
      { ...common, 'error.type': expect.stringMatching(/^(?:stale|unreachable)$/) },
      { ...common, 'http.request.resend_count': 1, 'http.response.status_code': 202 },
    ]);
    expect(upstream.seen.slice(-2).map(({ headers }) => headers.traceparent)).toEqual(
      clients.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    );
  });

  it('of a call over a kept connection that was lost are one for each attempt', async () => {
    let isKept = false;
    answer = (request, response) => {
      if (isKept) {
        isKept = false;
        request.socket.resetAndDestroy();
      } else {
        response.end('[]');
      }
    };
    await ask('DELETE', '/streams/t/x');
    isKept = true;
    const { id, status } = await ask('DELETE', '/streams/t/x', TRACED);
    expect(status).toBe(200);
    const { clients } = await collector.ofRequest(id, 2);
    expect(clients).toMatchObject([
      { status: 'error', attributes: { 'error.type': 'stale' } },
      {
        status: 'unset',
        attributes: { 'http.request.resend_count': 1, 'http.response.status_code': 200 },
      },
    ]);
    expect(upstream.seen.slice(-2).map(({ headers }) => headers.traceparent)).toEqual(
      clients.map(({ spanId }) => `00-${TRACE_ID}-${spanId}-01`),
    );
  });

  it('begin a trace where the client has none, or none that can be read', async () => {
    answer = (_request, response) => response.end();
    const malformed = { traceparent: `00-${'0'.repeat(32)}-${CALLER}-01`, tracestate: 'a=b' };
    for (const headers of [{}, { tracestate: 'a=b' }, malformed]) {
      const { id } = await ask('GET', '/streams/t/x', headers);
      const { server, clients } = await collector.ofRequest(id, 1);
      expect(server).toMatchObject({
        parentSpanId: '',
        traceId: expect.stringMatching(/^(?!0{32})[0-9a-f]{32}$/),
      });
      expect(server.traceId).not.toBe(TRACE_ID);
      const { traceparent, tracestate } = upstream.seen.at(-1)?.headers ?? {};
      expect(traceparent).toBe(`00-${server.traceId}-${clients[0]?.spanId}-01`);
      // W3C Trace Context §3.3.1: without its traceparent it means nothing.
      expect(tracestate || undefined).toBeUndefined();
    }
  });
});

describe('a traceparent', () => {
  // One caller without a credential had 178 times as many spans recorded.
  it('decides what is recorded once the credential is accepted, and before that is a link', async () => {
    answer = (_request, response) => response.end();
    const own = forThisTest(
      await startMeasuredGateway({
        GATEWAY_HISTORY_URL: `${upstream.url}/v1/stream`,
        ...collector.environment,
        OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      }),
    );
    const askOwn = async (path: string, id: string, headers = {}) =>
      (await fetch(own.url + path, { headers: { ...TRACED, 'x-request-id': id, ...headers } }))
        .status;
    expect(await askOwn('/streams/t/x', 'nobody')).toBe(401);
    expect(await askOwn('/health', 'probe')).toBe(200);
    expect(await askOwn('/streams/t/x', 'somebody', AUTHORIZED)).toBe(200);
    const { server } = await collector.ofRequest('somebody', 1);
    expect(server).toMatchObject({ traceId: TRACE_ID, parentSpanId: CALLER });
    const ids = collector.spans.map(({ attributes }) => attributes['gateway.request.id']);
    expect(ids).not.toContain('nobody');
    expect(ids).not.toContain('probe');

    const refused = await ask('GET', '/streams/t/x', { ...TRACED, authorization: 'Bearer nobody' });
    const { server: ofRefused } = await collector.ofRequest(refused.id, 0);
    expect(ofRefused).toMatchObject({
      parentSpanId: '',
      links: [{ traceId: TRACE_ID, spanId: CALLER }],
    });
    expect(ofRefused.traceId).not.toBe(TRACE_ID);
  });
});

describe('a request that fails', () => {
  it('has the problem’s code in its span, as an error only where the fault is not the client’s', async () => {
    const refused = await ask('GET', '/streams/t/x', { authorization: 'Bearer nonsense' });
    const { server } = await collector.ofRequest(refused.id, 0);
    expect(server).toMatchObject({ name: 'GET /streams/{*path}', status: 'unset' });
    expect(server.attributes).toEqual({
      ...READ,
      'http.response.status_code': 401,
      'error.type': 'invalid_credentials',
      'gateway.request.id': refused.id,
    });

    answer = (request) => request.socket.destroy();
    const failed = await ask('GET', '/registry/deployments');
    const spans = await collector.ofRequest(failed.id, 1);
    expect(spans.server).toMatchObject({
      status: 'error',
      statusMessage: '',
      attributes: { 'http.response.status_code': 502, 'error.type': 'upstream_unreachable' },
    });
    expect(spans.clients).toMatchObject([
      { status: 'error', statusMessage: '', attributes: { 'error.type': 'unreachable' } },
    ]);
  });

  it('with an upstream’s own answer has its status in both spans', async () => {
    answer = (_request, response) => response.writeHead(500).end();
    const failed = await ask('GET', '/registry/deployments');
    const of500 = await collector.ofRequest(failed.id, 1);
    const expected = { 'http.response.status_code': 500, 'error.type': '500' };
    expect(of500.server).toMatchObject({ status: 'error', attributes: expected });
    expect(of500.clients).toMatchObject([{ status: 'error', attributes: expected }]);

    answer = (_request, response) => response.writeHead(404).end();
    const missing = await ask('GET', '/streams/t/none');
    const of404 = await collector.ofRequest(missing.id, 1);
    expect(of404.server.status).toBe('unset');
    expect(of404.server.attributes['error.type']).toBeUndefined();
    // By the conventions a 4xx is an error of the one who asked, here the gateway.
    expect(of404.clients).toMatchObject([
      { status: 'error', attributes: { 'http.response.status_code': 404, 'error.type': '404' } },
    ]);
  });

  it('with an upstream that breaks off is marked as broken, and the call as failed', async () => {
    answer = (request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('some of it', () => request.socket.destroy());
    };
    const id = 'trace-broken';
    const reading = fetch(`${gateway.url}/streams/t/x`, {
      headers: { ...AUTHORIZED, 'x-request-id': id },
    }).then((response) => response.text());
    await expect(reading).rejects.toThrow();
    const { server, clients } = await collector.ofRequest(id, 1);
    expect(server).toMatchObject({
      status: 'unset',
      attributes: { 'http.response.status_code': 200, 'gateway.response.broken': true },
    });
    expect(clients).toMatchObject([{ status: 'error', attributes: { 'error.type': 'broken' } }]);
  });

  it('because its client has gone is no error, nor is its call', async () => {
    const parked = Promise.withResolvers<void>();
    answer = () => parked.resolve();
    const socket = await openSocket(gateway.port);
    const headers = [`Authorization: ${AUTHORIZED.authorization}`, 'X-Request-Id: trace-gone'];
    socket.write(rawRequest('GET /streams/t/x?live=long-poll', headers));
    await parked.promise;
    socket.destroy();
    await once(socket, 'close');
    const { server, clients } = await collector.ofRequest('trace-gone', 1);
    expect(server.status).toBe('unset');
    expect(server.attributes).toEqual({
      ...READ,
      'gateway.request.id': 'trace-gone',
      'gateway.read.live': 'long-poll',
      'gateway.response.broken': true,
    });
    expect(clients).toMatchObject([
      { status: 'unset', attributes: { 'gateway.call.canceled': true } },
    ]);
  });

  it('on no route is named by its method alone, which is one of a few', async () => {
    const lost = await ask('GET', '/no/such/route');
    const { server } = await collector.ofRequest(lost.id, 0);
    expect(server).toMatchObject({
      name: 'GET',
      attributes: { 'http.response.status_code': 404, 'error.type': 'route_not_found' },
    });
    expect(server.attributes['http.route']).toBeUndefined();

    await sendRaw(gateway.port, rawRequest('PURGE /x', ['X-Request-Id: trace-purge']));
    const purged = await collector.ofRequest('trace-purge', 0);
    expect(purged.server).toMatchObject({
      name: 'HTTP',
      attributes: { 'http.request.method': '_OTHER' },
    });
  });
});

describe('a trace that is not recorded', () => {
  it('is forwarded, and leaves no span', async () => {
    answer = (_request, response) => response.end();
    const unsampled = { traceparent: `00-${TRACE_ID}-${CALLER}-00` };
    const { id } = await ask('GET', '/streams/t/unsampled', unsampled);
    const passedOn = upstream.seen.at(-1)?.headers.traceparent;
    expect(passedOn).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
    // What comes later is exported later: by then this one would be there.
    const later = await ask('GET', '/streams/t/x');
    await collector.ofRequest(later.id, 1);
    expect(collector.spans.filter((span) => span.attributes['gateway.request.id'] === id)).toEqual(
      [],
    );
  });
});

describe('a read that is shared', () => {
  it('has the span of the call that answered it linked', async () => {
    const readers = [0, 1].map((index) => `trace-shared-${index}`);
    const open = (id: string) =>
      fetch(`${gateway.url}/streams/t/shared?live=sse`, {
        headers: { ...AUTHORIZED, 'x-request-id': id },
      });
    let stream: ServerResponse | undefined;
    answer = (_request, response) => {
      stream = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
    };
    const first = await open(readers[0] ?? '');
    const second = await open(readers[1] ?? '');
    stream?.end();
    await Promise.all([first.text(), second.text()]);
    const { server, clients } = await collector.ofRequest(readers[0] ?? '', 1);
    const joined = await collector.ofRequest(readers[1] ?? '', 0);
    expect(server.links).toEqual([]);
    expect(joined.server.attributes['gateway.read.shared']).toBe(true);
    expect(joined.server.links).toEqual([{ traceId: server.traceId, spanId: clients[0]?.spanId }]);
  });
});

// The last one: it looks at all the spans that the others have brought.
describe('docs/traces.md', () => {
  it('names every attribute of a span, and none that there is not', async () => {
    const path = join(import.meta.dirname, '../../docs/traces.md');
    const part = await readFile(path, 'utf8');
    const rows = part.split('\n').filter((row) => row.startsWith('| `'));
    const ofCalls = rows.findIndex((row) => row.includes('`peer.service`'));
    const namesIn = (some: string[]): Set<string> =>
      new Set(some.flatMap((row) => (row.split('|')[1] ?? '').match(/[a-z_.]+(?=`)/g) ?? []));
    const seen = (kind: 'server' | 'client'): Set<string> =>
      new Set(
        collector.spans
          .filter((span) => span.kind === kind)
          .flatMap(({ attributes }) => Object.keys(attributes)),
      );
    expect(seen('server')).toEqual(namesIn(rows.slice(0, ofCalls)));
    expect(seen('client')).toEqual(namesIn(rows.slice(ofCalls)));
  });
});
