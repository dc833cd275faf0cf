import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Family } from '../support/exposition.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { API_KEY, API_KEY_NAME, AUTHORIZED, READ_TOKEN_SECRET } from '../support/gateway.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { everyUpstream } from '../support/nobody.ts';
import { rawRequest, sendRaw } from '../support/raw-client.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { ACCEPTED, PREVIOUSLY } from '../support/runtime.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import type { Script } from '../support/scripted-upstream.ts';

const STREAMS = '/streams/{*path}';

let answer: Script;
const upstream = scriptedUpstream((...args) => answer(...args));
let gateway: MeasuredGateway;

beforeEach(async () => {
  answer = (_request, response) => response.end('{}');
  await start();
});

async function start(more: Record<string, string> = {}): Promise<void> {
  const settings = { ...everyUpstream(upstream.url), GATEWAY_MAX_BODY_BYTES: '100', ...more };
  gateway = forThisTest(await startMeasuredGateway(settings));
}

async function ask(path: string, init: RequestInit = {}): Promise<number> {
  const headers = { ...AUTHORIZED, ...(init.headers as Record<string, string>) };
  const response = await fetch(gateway.url + path, { ...init, headers });
  await response.text();
  return response.status;
}

/** The series of a family that are above 0, with their values. */
async function counted(name: string): Promise<[Record<string, string>, number][]> {
  const families = await gateway.metrics();
  const samples = families.find((family) => family.name === name)?.samples ?? [];
  return samples.filter(({ value }) => value > 0).map(({ labels, value }) => [labels, value]);
}

const outcome = (http_request_method: string, http_route: string, status: string) => ({
  http_request_method,
  http_route,
  http_response_status_class: status,
});

describe('requests', () => {
  it('are counted and timed by method, route and class of status', async () => {
    expect(await ask('/streams/t/x')).toBe(200);
    expect(await ask('/streams/t/y', { method: 'HEAD' })).toBe(200);
    expect(await ask('/nothing')).toBe(404);
    expect(await ask('/streams/t//x')).toBe(400);
    await gateway.until('gateway_requests_total', outcome('GET', 'none', '4xx'), 2);

    expect(await counted('gateway_requests_total')).toEqual([
      [outcome('GET', STREAMS, '2xx'), 1],
      [outcome('HEAD', STREAMS, '2xx'), 1],
      [outcome('GET', 'none', '4xx'), 2],
    ]);
    const families = await gateway.metrics();
    const durations = families.find(({ name }) => name === 'http_server_request_duration_seconds');
    expect(countsOf(durations)).toEqual([
      [outcome('GET', STREAMS, '2xx'), 1],
      [outcome('HEAD', STREAMS, '2xx'), 1],
      [outcome('GET', 'none', '4xx'), 2],
    ]);
  });

  it('have the time to the first byte beside the whole', async () => {
    const sent = Promise.withResolvers<ServerResponse>();
    answer = (_request, response) => response.write('a', () => sent.resolve(response));
    const response = await fetch(`${gateway.url}/streams/x`, { headers: AUTHORIZED });
    const upstreamResponse = await sent.promise;
    // What the test is about: the body comes some time after the head.
    await new Promise((resolve) => setTimeout(resolve, 200));
    upstreamResponse.end('b');
    expect(await response.text()).toBe('ab');
    const labels = outcome('GET', STREAMS, '2xx');
    await gateway.until('http_server_request_duration_seconds_count', labels, 1);

    const whole = await gateway.value('http_server_request_duration_seconds_sum', labels);
    const firstByte = await gateway.value('gateway_time_to_first_byte_seconds_sum', {
      http_request_method: 'GET',
      http_route: STREAMS,
    });
    expect((whole ?? 0) - (firstByte ?? 0)).toBeGreaterThan(0.15);
  });

  it('that wait for what is new have a histogram of their own', async () => {
    answer = (request, response) => {
      const isSse = request.url?.includes('live=sse');
      response.writeHead(200, { 'content-type': isSse ? 'text/event-stream' : 'text/plain' });
      response.end('event: control\ndata: {}\n\n');
    };
    await ask('/streams/x?offset=1&live=long-poll');
    await ask('/streams/x?offset=1&live=sse');
    await ask('/shapes/v1/shape?table=entities&live=true');
    await gateway.until('gateway_requests_total', outcome('GET', '/shapes/{*path}', '2xx'), 1);

    const families = await gateway.metrics();
    const named = (wanted: string) => families.find(({ name }) => name === wanted);
    const live = (http_route: string, mode: string) => ({
      http_route,
      mode,
      http_response_status_class: '2xx',
    });
    expect(countsOf(named('gateway_live_read_duration_seconds'))).toEqual([
      [live(STREAMS, 'long-poll'), 1],
      [live(STREAMS, 'sse'), 1],
      [live('/shapes/{*path}', 'long-poll'), 1],
    ]);
    expect(countsOf(named('http_server_request_duration_seconds'))).toEqual([]);
    expect(countsOf(named('gateway_time_to_first_byte_seconds'))).toEqual([]);
    expect(countsOf(named('http_client_request_duration_seconds'))).toEqual([]);
    expect(await counted('gateway_upstream_requests_total')).toEqual([
      [{ upstream: 'history', http_request_method: 'GET', http_response_status_class: '2xx' }, 2],
      [{ upstream: 'sync', http_request_method: 'GET', http_response_status_class: '2xx' }, 1],
    ]);
  });

  it('that are refused although they would wait are counted with those that are answered', async () => {
    expect(await ask('/streams/x?live=long-poll', { headers: { authorization: '' } })).toBe(401);
    const labels = outcome('GET', STREAMS, '4xx');
    await gateway.until('http_server_request_duration_seconds_count', labels, 1);
  });

  it('whose client has gone have no status', async () => {
    const arrived = Promise.withResolvers<void>();
    answer = () => arrived.resolve();
    const client = new AbortController();
    const parked = fetch(`${gateway.url}/streams/x?live=long-poll`, {
      headers: AUTHORIZED,
      signal: client.signal,
    });
    await arrived.promise;
    client.abort();
    await expect(parked).rejects.toThrow('aborted');
    await gateway.until('gateway_requests_total', outcome('GET', STREAMS, 'none'), 1);
    // It is no fault of the upstream's.
    expect(await counted('gateway_upstream_failures_total')).toEqual([]);
    expect(await gateway.value('http_client_active_requests', { upstream: 'history' })).toBe(0);
  });

  it('are counted by the name of their credential and by outcome', async () => {
    const token = await mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams/t', ttlSeconds: 60 });
    const withToken = { headers: { authorization: `Bearer ${token}` } };
    expect(await ask('/streams/t/x')).toBe(200);
    expect(await ask('/streams/t/x', withToken)).toBe(200);
    expect(await ask('/streams/t/y', withToken)).toBe(200);
    expect(await ask('/streams/other', withToken)).toBe(403);
    await gateway.until('gateway_requests_total', outcome('GET', STREAMS, '4xx'), 1);
    const byCredential = await counted('gateway_credential_requests_total');
    expect(byCredential).toHaveLength(3);
    expect(byCredential).toEqual(
      expect.arrayContaining([
        [{ credential: API_KEY_NAME, outcome: '2xx' }, 1],
        [{ credential: 'read-token', outcome: '2xx' }, 2],
        [{ credential: 'read-token', outcome: '4xx' }, 1],
      ]),
    );
  });
});

describe('no label', () => {
  it('comes from a client: names, paths, methods and tokens leave the series as they are', async () => {
    const secret = 'Zq7-hostile-Zq7';
    const methods = ['PROPFIND', 'M-SEARCH', 'QUERY', 'TRACE', 'GET', 'PUT', 'CONNECT'];
    const targets = (i: number): string[] => [
      `/streams/t/${secret}/${i}?live=${secret}${i}&offset=${i}`,
      `/shapes/v1/${secret}${i}?table=${i}`,
      `/registry/${secret}/${i}`,
      `/api/a/${secret}/${i}/send`,
      `/api/a/${secret}/${i}/control`,
      `/api/t/${secret}${i}/spawn`,
      `/${secret}/${i}`,
      `/streams/%2e%2e/${i}`,
      `http://${secret}${i}/`,
    ];
    const sendAll = async (i: number): Promise<void> => {
      const sent = methods.flatMap((method) =>
        targets(i).map((target) =>
          sendRaw(
            gateway.port,
            rawRequest(`${method} ${target}`, [
              `Authorization: Bearer ${i % 2 ? API_KEY : secret + i}`,
              `X-Request-Id: ${secret}${i}`,
              `Idempotency-Key: ${secret}${i}`,
            ]),
          ),
        ),
      );
      await Promise.all(sent);
    };
    const connects = (count: number): Promise<void> =>
      gateway.until('gateway_requests_total', outcome('CONNECT', 'none', '4xx'), count);

    await sendAll(0);
    await sendAll(1);
    await connects(2 * targets(0).length);
    const before = seriesOf(await gateway.metrics());
    for (let i = 2; i < 6; i++) await sendAll(i);
    await connects(6 * targets(0).length);
    const after = seriesOf(await gateway.metrics());

    expect(after).toEqual(before);
    expect(after.join('\n')).not.toMatch(/Zq7|%2e|PROPFIND|M-SEARCH/i);
    expect(after.some((series) => series.includes('"_OTHER"'))).toBe(true);
    expect(after.length).toBeLessThan(1_500);
  });
});

describe('commands', () => {
  const post = (path: string, body: string, headers = {}): Promise<number> =>
    ask(path, { method: 'POST', body, headers });

  it('are counted by verb and outcome, replays apart', async () => {
    answer = (request, response) => {
      const isKnown = request.headers['idempotency-key'] === 'known';
      response.statusCode = request.url?.startsWith('/unknown/') ? 404 : 202;
      response.setHeader('x-restate-error-source', 'ingress');
      response.end(isKnown ? PREVIOUSLY : ACCEPTED);
    };
    expect(await post('/api/spawn', '{"type":"chat"}')).toBe(202);
    expect(await post('/api/t/default/spawn', '{"type":"chat"}')).toBe(202);
    expect(await post('/api/spawn', '{"type":"unknown"}')).toBe(404);
    expect(await post('/api/spawn', '{')).toBe(400);
    expect(await post('/api/a/chat/a1/send', 'x', { 'idempotency-key': 'known' })).toBe(202);
    expect(await post('/api/a/chat/a1/control', '{"verb":"pause"}')).toBe(202);
    expect(await post('/api/a/chat/a1/control', '{"verb":"explode"}')).toBe(400);
    expect(await post('/api/a/chat/a1/send', 'x', { authorization: '' })).toBe(401);
    const last = { verb: 'send', outcome: 'missing_credentials' };
    await gateway.until('gateway_commands_total', last, 1);

    expect(await counted('gateway_commands_total')).toEqual([
      [{ verb: 'spawn', outcome: 'accepted' }, 2],
      [{ verb: 'send', outcome: 'replayed' }, 1],
      [{ verb: 'pause', outcome: 'accepted' }, 1],
      [{ verb: 'spawn', outcome: 'entity_type_not_registered' }, 1],
      [{ verb: 'spawn', outcome: 'invalid_body' }, 1],
      [{ verb: 'control', outcome: 'unknown_verb' }, 1],
      [{ verb: 'send', outcome: 'missing_credentials' }, 1],
    ]);
  });

  it('are counted as left where the client goes before the answer', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    answer = (_request, response) => arrived.resolve(response);
    const client = new AbortController();
    const sent = fetch(`${gateway.url}/api/a/chat/a1/send`, {
      method: 'POST',
      body: 'x',
      headers: AUTHORIZED,
      signal: client.signal,
    });
    await arrived.promise;
    client.abort();
    await expect(sent).rejects.toThrow('aborted');
    await gateway.until('gateway_commands_total', { verb: 'send', outcome: 'client_gone' }, 1);
  });

  it('that are tried again are so many requests to the runtime', async () => {
    let isFirst = true;
    answer = (_request, response) => {
      if (!isFirst) response.writeHead(202).end(ACCEPTED);
      else response.destroy();
      isFirst = false;
    };
    const status = await post('/api/a/chat/a1/send', 'x', { 'idempotency-key': 'k1' });
    expect(status).toBe(202);
    await gateway.until('gateway_commands_total', { verb: 'send', outcome: 'accepted' }, 1);
    const ingress = { upstream: 'runtime-ingress', http_request_method: 'POST' };
    expect(await counted('gateway_upstream_requests_total')).toEqual([
      [{ ...ingress, http_response_status_class: '2xx' }, 1],
      [{ ...ingress, http_response_status_class: 'none' }, 1],
    ]);
    expect(await counted('gateway_upstream_failures_total')).toEqual([
      [{ ...ingress, kind: 'unreachable' }, 1],
    ]);
  });
});

describe('an upstream', () => {
  const failed = (kind: string, http_request_method = 'GET'): Promise<void> =>
    gateway.until(
      'gateway_upstream_failures_total',
      { upstream: 'history', http_request_method, kind },
      1,
    );

  it('has its answers timed, to the head and to the end', async () => {
    await ask('/streams/x');
    await ask('/registry/deployments', { method: 'POST', body: '{}' });
    const labels = (method: string, name: string) => ({
      upstream: name,
      http_request_method: method,
    });
    const whole = { http_response_status_class: '2xx' };
    for (const [method, name] of [
      ['GET', 'history'],
      ['POST', 'runtime-admin'],
    ] as const) {
      await gateway.until(
        'http_client_request_duration_seconds_count',
        { ...labels(method, name), ...whole },
        1,
      );
      const firstBytes = 'gateway_upstream_time_to_first_byte_seconds_count';
      expect(await gateway.value(firstBytes, labels(method, name))).toBe(1);
      expect(await gateway.value('http_client_active_requests', { upstream: name })).toBe(0);
    }
  });

  it('that answers 500 has failed, and its answer is passed on', async () => {
    answer = (_request, response) => response.writeHead(500).end('down');
    expect(await ask('/streams/x')).toBe(500);
    await failed('status_5xx');
    expect(await counted('gateway_problems_total')).toEqual([]);
  });

  it('that says nothing in time has failed', async () => {
    answer = () => undefined;
    await start({ GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '1500' });
    expect(await ask('/streams/x', { method: 'PUT' })).toBe(502);
    await failed('timeout', 'PUT');
  });

  it('that breaks its body off has failed', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    };
    await expect(ask('/streams/x')).rejects.toThrow('terminated');
    await failed('broken');
  });

  it('that closes before it answers has failed', async () => {
    answer = (_request, response) => response.destroy();
    expect(await ask('/streams/x')).toBe(502);
    await failed('unreachable');
  });
});

describe('refusals', () => {
  it('of a credential are counted by reason', async () => {
    const token = (request: object) =>
      mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams/t', ttlSeconds: 60, ...request });
    const bearer = (credential: string) => ({ headers: { authorization: `Bearer ${credential}` } });
    const foreign = await mintReadToken('another-secret-another-secret-another', {
      prefix: '/streams',
      ttlSeconds: 60,
    });
    const good = await token({});
    const shapes = await token({ prefix: '/shapes', shape: { table: 'entities', where: 'a=1' } });
    const statuses = [
      await ask('/streams/t/x', { headers: { authorization: '' } }),
      await ask('/streams/t/x', { headers: { authorization: 'Basic eDp5' } }),
      await ask('/api/a/chat/a1/send', { method: 'POST', ...bearer('not-a-key') }),
      await ask('/streams/t/x', bearer('not-a-key')),
      await ask('/streams/t/x', bearer(foreign)),
      await ask('/streams/t/x', bearer(await token({ prefix: '/other' }))),
      await ask('/streams/t/x', bearer(await token({ ttlSeconds: -1 }))),
      await ask('/streams/u/x', bearer(good)),
      await ask('/streams/t/x', { method: 'PUT', ...bearer(good) }),
      await ask('/shapes/v1/shape?table=secrets', bearer(await token({ prefix: '/shapes' }))),
      await ask('/shapes/v1/shape?table=entities', bearer(shapes)),
    ];
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 401, 403, 403, 403, 403]);
    expect(await problemsWith('shape_not_covered')).toEqual({
      missing_credentials: 1,
      'invalid_credentials malformed_header': 1,
      'invalid_credentials not_an_api_key': 1,
      'invalid_credentials unknown_credential': 1,
      'invalid_credentials signature': 1,
      'invalid_credentials claims': 1,
      token_expired: 1,
      prefix_not_covered: 1,
      read_only_token: 1,
      table_not_allowed: 1,
      shape_not_covered: 1,
    });
  });

  it('of a body are counted by reason', async () => {
    const long = 'x'.repeat(101);
    expect(await ask('/streams/x', { method: 'POST', body: long })).toBe(413);
    const chunked = new Blob([long]).stream();
    const sent = { method: 'POST', body: chunked, duplex: 'half' } as RequestInit;
    expect(await ask('/api/a/chat/a1/send', sent)).toBe(413);
    expect(await ask('/api/spawn', { method: 'POST', body: '{' })).toBe(400);
    answer = (_request, response) => response.writeHead(413).end();
    expect(await ask('/api/a/chat/a1/send', { method: 'POST', body: 'x' })).toBe(413);
    const odd = [`Authorization: Bearer ${API_KEY}`, 'Transfer-Encoding: gzip, chunked'];
    await sendRaw(gateway.port, rawRequest('POST /api/a/chat/a1/send', odd, '0\r\n\r\n'));
    expect(await problemsWith('invalid_body', 'transfer_coding')).toEqual({
      'body_too_large declared_length': 1,
      'body_too_large counted_length': 1,
      'body_too_large runtime': 1,
      'invalid_body transfer_coding': 1,
      invalid_body: 1,
    });
  });

  it('of the runtime, which has too much to do, are counted as such', async () => {
    answer = (_request, response) => response.writeHead(429).end();
    expect(await ask('/api/a/chat/a1/send', { method: 'POST', body: 'x' })).toBe(429);
    expect(await problemsWith('rate_limited', 'runtime')).toEqual({ 'rate_limited runtime': 1 });
  });

  /** How often each code came with each reason, once the last one is counted. */
  async function problemsWith(code: string, reason = ''): Promise<Record<string, number>> {
    await gateway.until('gateway_problems_total', { code, reason }, 1);
    const problems = await counted('gateway_problems_total');
    return Object.fromEntries(
      problems.map(([labels, value]) => [`${labels['code']} ${labels['reason']}`.trim(), value]),
    );
  }
});

describe('read tokens', () => {
  it('that expire while their reads are parked are counted, and ends of streams are no errors', async () => {
    const opened = Promise.withResolvers<void>();
    answer = (request, response) => {
      if (!request.url?.includes('live=sse')) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: control\ndata: {}\n\n', () => opened.resolve());
    };
    const token = await mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds: 5 });
    const headers = { authorization: `Bearer ${token}` };
    const parked = ask('/streams/x?live=long-poll', { headers });
    const stream = await fetch(`${gateway.url}/streams/x?live=sse`, { headers });
    await opened.promise;
    await stream.text();
    expect(await parked).toBe(401);
    const parkedToo = { code: 'token_expired', reason: 'parked' };
    await gateway.until('gateway_problems_total', parkedToo, 1);
    expect(await counted('gateway_problems_total')).toEqual([[parkedToo, 1]]);
  });
});

/** Every series by its name and labels, without the buckets' bounds. */
function seriesOf(families: readonly Family[]): string[] {
  const series = families.flatMap(({ samples }) =>
    samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`),
  );
  return series.sort();
}

/** How often each series of a histogram was observed. */
function countsOf(family: Family | undefined): [Record<string, string>, number][] {
  const counts = family?.samples.filter(({ name }) => name === `${family.name}_count`) ?? [];
  return counts.map(({ labels, value }) => [labels, value]);
}
