import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from '@jest/globals';
import { memoryPlan } from '../../src/contract/memory-plan.ts';
import { GATEWAY_PHASES } from '../../src/platform/server/gateway-state.ts';
import { processMemory } from '../../src/platform/memory/process-memory.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { rawRequest, sendRaw } from '../support/raw-client.ts';
import { startRawUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';
import { openWire } from '../support/wire.ts';

const start = async (env: Record<string, string> = {}): Promise<MeasuredGateway> =>
  forThisTest(await startMeasuredGateway(env));

/** A history store that answers when the test says so. */
async function startHolding(): Promise<{ url: string; held: ServerResponse[] }> {
  const held: ServerResponse[] = [];
  const upstream = await startScriptedUpstream((request, response) => {
    if (request.url?.includes('live=sse')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: control\ndata: {}\n\n');
    }
    held.push(response);
  });
  return { ...forThisTest(upstream), held };
}

/** Begins reads and leaves them open. Returns a function that ends all of them. */
function read(gateway: MeasuredGateway, ...targets: string[]): () => Promise<void> {
  const client = new AbortController();
  const { signal } = client;
  const answers = targets.map((target) =>
    fetch(gateway.url + target, { headers: AUTHORIZED, signal })
      .then((response) => response.text())
      .catch(() => undefined),
  );
  return async () => {
    client.abort();
    await Promise.all(answers);
  };
}

describe('reads under way', () => {
  it('are gauged: all of them, those that wait by how, and the busiest credential; apart as set', async () => {
    const { url } = await startHolding();
    const gateway = await start({
      GATEWAY_HISTORY_URL: url,
      GATEWAY_MAX_OPEN_READS: '7',
      GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL: '5',
      GATEWAY_SHARED_READS: 'false',
    });
    const end = read(
      gateway,
      '/streams/a',
      '/streams/a?offset=1&live=long-poll',
      '/streams/a?offset=1&live=long-poll',
      '/streams/a?offset=1&live=sse',
    );
    await gateway.until('gateway_open_reads', {}, 4);
    await gateway.until('http_client_active_requests', { upstream: 'history' }, 4);
    expect(await gateway.value('gateway_parked_reads', { mode: 'long-poll' })).toBe(2);
    expect(await gateway.value('gateway_parked_reads', { mode: 'sse' })).toBe(1);
    expect(await gateway.value('gateway_open_reads_of_busiest_credential')).toBe(4);
    expect(await gateway.value('gateway_open_reads_limit')).toBe(7);
    expect(await gateway.value('gateway_open_reads_per_credential_limit')).toBe(5);
    expect(await gateway.value('http_server_active_requests')).toBe(4);

    await end();
    await gateway.until('gateway_open_reads', {}, 0);
    await gateway.until('http_client_active_requests', { upstream: 'history' }, 0);
    await gateway.until('http_server_active_requests', {}, 0);
    expect(await gateway.value('gateway_parked_reads', { mode: 'long-poll' })).toBe(0);
    expect(await gateway.value('gateway_parked_reads', { mode: 'sse' })).toBe(0);
    expect(await gateway.value('gateway_open_reads_of_busiest_credential')).toBe(0);
    // Two of them ask for the same.
    const apart = { mode: 'long-poll', share: 'apart' };
    await gateway.until('gateway_shared_reads_total', apart, 2);
  });

  it('that share an upstream request are counted as joined, and are one request', async () => {
    const { url, held } = await startHolding();
    const gateway = await start({ GATEWAY_HISTORY_URL: url });
    const target = '/streams/a?offset=1&live=long-poll';
    const end = read(gateway, target, target, target);
    const share = (mode: string, name: string) => ({ mode, share: name });
    await gateway.until('gateway_parked_reads', { mode: 'long-poll' }, 3);
    expect(await gateway.value('http_client_active_requests', { upstream: 'history' })).toBe(1);
    expect(held).toHaveLength(1);
    await end();
    await gateway.until('gateway_shared_reads_total', share('long-poll', 'joined'), 2);
    expect(await gateway.value('gateway_shared_reads_total', share('long-poll', 'first'))).toBe(1);
    expect(await gateway.value('gateway_shared_reads_total', share('long-poll', 'apart'))).toBe(0);
    await gateway.until('http_client_active_requests', { upstream: 'history' }, 0);
  });

  // Those that got a request of their own, as the answer was too large to share, counted as joined too.
  it('that had to part from others are counted once, as apart', async () => {
    const LARGE = Buffer.alloc(1_500_000);
    const { url, held } = await startHolding();
    const arrived = (count: number): Promise<void> =>
      until(`the store has ${count} reads`, () => held.length === count);
    const gateway = await start({ GATEWAY_HISTORY_URL: url });
    const get = async (): Promise<number> => {
      const response = await fetch(`${gateway.url}/streams/a`, { headers: AUTHORIZED });
      return (await response.arrayBuffer()).byteLength;
    };
    const first = get();
    await arrived(1);
    const others = [get(), get()];
    await gateway.until('gateway_open_reads', {}, 3);
    held[0]?.end('small');
    await arrived(2);
    held[1]?.end(LARGE);
    await arrived(3);
    held[2]?.end(LARGE);
    expect(await Promise.all([first, ...others])).toEqual([5, LARGE.length, LARGE.length]);
    const count = (share: string) =>
      gateway.value('gateway_shared_reads_total', { mode: 'catch-up', share });
    expect([await count('first'), await count('joined'), await count('apart')]).toEqual([2, 0, 1]);
  });

  it('of one event stream tell what is held of it for later readers', async () => {
    const { url } = await startHolding();
    const gateway = await start({ GATEWAY_HISTORY_URL: url });
    const end = read(gateway, '/streams/a?offset=1&live=sse');
    // Its one event, and what a block takes beside its bytes.
    const held = 'event: control\ndata: {}\n\n'.length + 256;
    await gateway.until('gateway_held_bytes', { kind: 'events' }, held);
    await end();
    for (const kind of ['answers', 'events', 'bodies']) {
      await gateway.until('gateway_held_bytes', { kind }, 0);
    }
  });
});

describe('limits', () => {
  it.each([
    ['open_reads', { GATEWAY_MAX_OPEN_READS: '1' }],
    ['open_reads_per_credential', { GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL: '1' }],
  ])('count the reads beyond the cap %s, and under no other name', async (limit, cap) => {
    const { url } = await startHolding();
    const gateway = await start({ GATEWAY_HISTORY_URL: url, ...cap });
    const end = read(gateway, '/streams/a');
    await gateway.until('gateway_open_reads', {}, 1);
    expect((await fetch(`${gateway.url}/streams/b`, { headers: AUTHORIZED })).status).toBe(503);
    await gateway.until('gateway_problems_total', { code: 'overloaded', reason: limit }, 1);
    const families = await gateway.metrics();
    const refusals = families.find(({ name }) => name === 'gateway_problems_total');
    expect(refusals?.samples.filter(({ value }) => value > 0)).toHaveLength(1);
    await end();
  });

  it('count the requests beyond a rate', async () => {
    const gateway = await start({ GATEWAY_RATE_LIMIT_PER_SECOND: '1' });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      statuses.push((await fetch(`${gateway.url}/streams/a`, { headers: AUTHORIZED })).status);
    }
    expect(statuses).toContain(429);
    const refused = statuses.filter((status) => status === 429).length;
    const labels = { code: 'rate_limited', reason: 'requests_per_second' };
    await gateway.until('gateway_problems_total', labels, refused);
  });

  it('count the connections beyond the cap', async () => {
    const { url } = await startHolding();
    const gateway = await start({ GATEWAY_MAX_CONNECTIONS: '1', GATEWAY_HISTORY_URL: url });
    const first = await openWire(gateway.port);
    await first.write(rawRequest('GET /streams/a', [`Authorization: ${AUTHORIZED.authorization}`]));
    await gateway.until('gateway_open_reads', {}, 1);
    expect(await sendRaw(gateway.port, rawRequest('GET /health'))).toMatch(/^HTTP\/1\.1 503 /);
    const labels = { code: 'overloaded', reason: 'connections' };
    await gateway.until('gateway_problems_total', labels, 1);
    expect(await gateway.value('gateway_connections_limit')).toBe(1);
    first.reset();
  });
});

describe('connections', () => {
  it('are gauged, with the bytes that came and went', async () => {
    const gateway = await start();
    const request = rawRequest('GET /health', ['X-Request-Id: r1']);
    const wire = await openWire(gateway.port);
    await gateway.until('gateway_connections', {}, 1);
    expect(await gateway.value('gateway_network_bytes_total', { direction: 'received' })).toBe(0);
    await wire.write(request);
    await wire.over();
    await gateway.until('gateway_connections', {}, 0);
    const bytes = (direction: string) =>
      gateway.value('gateway_network_bytes_total', { direction });
    expect(await bytes('received')).toBe(request.length);
    expect(await bytes('sent')).toBe(wire.received.length);
  });
});

describe('requests that a client sends ahead', () => {
  it('are all under way, and the client that sends too many is counted', async () => {
    const { url } = await startHolding();
    const gateway = await start({ GATEWAY_HISTORY_URL: url });
    const read = `GET /streams/a?live=long-poll HTTP/1.1\r\nHost: g\r\nAuthorization: ${AUTHORIZED.authorization}\r\n\r\n`;
    const wire = await openWire(gateway.port);
    await wire.write(read.repeat(100));
    await gateway.until('gateway_open_reads', {}, 100);
    wire.reset();
    await gateway.until('gateway_open_reads', {}, 0);

    const ended = { reason: 'waiting_requests' };
    expect(await gateway.value('gateway_clients_ended_total', ended)).toBe(0);
    const greedy = await openWire(gateway.port);
    await greedy.write(read + 'GET /health HTTP/1.1\r\nHost: g\r\n\r\n'.repeat(100));
    await greedy.over();
    await gateway.until('gateway_clients_ended_total', ended, 1);
    expect(await gateway.value('gateway_clients_ended_total', { reason: 'memory' })).toBe(0);
    expect(await gateway.value('gateway_clients_ended_total', { reason: 'stalled' })).toBe(0);
  });
});

describe('memory', () => {
  it('is gauged against its limit, and so is what is held', async () => {
    const gateway = await start();
    const usedRatio = await gateway.value('gateway_memory_used_ratio');
    expect(usedRatio).toBeGreaterThan(0);
    expect(usedRatio).toBeLessThan(1);
    expect(await gateway.value('gateway_memory_limit_bytes')).toBe(processMemory().limitBytes);
    expect(await gateway.value('gateway_held_bytes_limit')).toBe(
      memoryPlan(processMemory().limitBytes, getHeapStatistics().heap_size_limit).maxHeldBytes,
    );
  });
});

describe('the phase', () => {
  it('is that of the drain, one of them at a time', async () => {
    const gateway = await start();
    const { state } = gateway.running;
    for (state.phase of GATEWAY_PHASES) {
      const families = await gateway.metrics();
      const phase = families.find(({ name }) => name === 'gateway_phase');
      const current = phase?.samples.filter(({ value }) => value === 1) ?? [];
      expect(current.map(({ labels }) => labels.phase)).toEqual([state.phase]);
    }
    expect((await fetch(`${gateway.url}/streams/a`, { headers: AUTHORIZED })).status).toBe(503);
    await gateway.until('gateway_problems_total', { code: 'draining', reason: '' }, 1);
  });
});

describe('an upstream', () => {
  it('is reachable as long as a connection to it can be made', async () => {
    const history = await startRawUpstream(() => undefined);
    const gateway = await start({ GATEWAY_HISTORY_URL: history.url });
    const reachable = (upstream: string) =>
      gateway.value('gateway_upstream_reachable', { upstream });
    await gateway.until('gateway_upstream_reachable', { upstream: 'history' }, 1);
    expect(await reachable('sync')).toBe(0);
    expect(await reachable('runtime-ingress')).toBe(0);
    expect(await reachable('runtime-admin')).toBe(0);
    await history.stop();
    await gateway.until('gateway_upstream_reachable', { upstream: 'history' }, 0);
  });
});

describe('the key set of read tokens', () => {
  it('is available and has an age where it could be had', async () => {
    const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    const keys = forThisTest(
      await startScriptedUpstream((_request, response) =>
        response.end(JSON.stringify({ keys: [jwk] })),
      ),
    );
    const gateway = await start({ GATEWAY_READ_TOKEN_JWKS: `${keys.url}/keys` });
    await gateway.until('gateway_token_keys_available', {}, 1);
    const ageSeconds = await gateway.value('gateway_token_keys_age_seconds');
    expect(ageSeconds).toBeGreaterThanOrEqual(0);
    expect(ageSeconds).toBeLessThan(30);
  });

  it('is not available where it cannot be had, and refuses tokens for that', async () => {
    const gateway = await start({ GATEWAY_READ_TOKEN_JWKS: 'http://127.0.0.1:2/keys' });
    expect(await gateway.value('gateway_token_keys_available')).toBe(0);
    const ageSeconds = await gateway.value('gateway_token_keys_age_seconds');
    expect(ageSeconds).toBeGreaterThan(0);
    const header = Buffer.from('{"alg":"ES256"}').toString('base64url');
    const authorization = `Bearer ${header}.e30.AAAA`;
    const answer = await fetch(`${gateway.url}/streams/x`, { headers: { authorization } });
    expect(answer.status).toBe(503);
    await gateway.until('gateway_problems_total', { code: 'keys_unavailable', reason: '' }, 1);
  });

  it('has no metrics where the settings name none', async () => {
    const gateway = await start();
    const names = (await gateway.metrics()).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('gateway_token_keys'))).toEqual([]);
  });
});
