import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { AUTHORIZED } from '../support/credentials.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { openSocket } from '../support/open-socket.ts';
import { rawRequest, sendRaw } from '../support/raw-client.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';
import { openWire } from '../support/wire.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;
/** So long that a busy machine reaches no phase of it before the test has done what belongs to the phase before. */
const DRAIN_MS = 12_000;
const LAME_DUCK_ENDS_MS = 0.2 * DRAIN_MS;
const SOFT_DEADLINE_MS = 0.8 * DRAIN_MS;
/** A bound for what never comes: without its hard deadline a gateway would wait for the upstream. */
const LATE_MS = 30_000;
/** Node's timers count whole milliseconds, and each process has its own clock. */
const EARLY_MS = 5;

describe('the drain', () => {
  let upstream: ScriptedUpstream;
  let gateway: GatewayChild;
  /** Requests that the upstream has and has not answered, by their target. */
  let held: Map<string, ServerResponse>;
  let signalledAtMs = 0;
  const sinceSignalMs = (): number => performance.now() - signalledAtMs;

  beforeEach(async () => {
    held = new Map();
    upstream = forThisTest(
      await startScriptedUpstream(({ url: target = '' }, response) => {
        if (target.includes('held')) held.set(target, response);
        else response.end(ACCEPTED);
      }),
    );
    gateway = await startGatewayChild({ env: environment(upstream.url) });
    afterThisTest(() => gateway.kill());
  });

  const terminate = (): void => {
    signalledAtMs = performance.now();
    gateway.signal('SIGTERM');
  };
  const untilHeld = async (target: string): Promise<ServerResponse> => {
    await until(`${target} is held`, () => held.has(target));
    return held.get(target)!;
  };
  const ready = (): Promise<number> => readiness(gateway);
  /** As its metrics say. */
  const phase = async (): Promise<string | undefined> => {
    const metrics = await (await fetch(`${gateway.managementUrl}/metrics`)).text();
    return /^gateway_phase\{phase="([a-z-]+)"\} 1$/m.exec(metrics)?.[1];
  };

  it('is a lame duck first: not ready, alive, serving, and closing every connection behind its answer', async () => {
    const parked = fetchWhole('/streams/held');
    const before = await untilHeld('/held');
    terminate();
    await untilUnready(gateway);
    expect((await fetch(`${gateway.managementUrl}/health/live`)).status).toBe(200);

    // One that comes only now, on a connection that is new.
    const late = await sendRaw(gateway.port, request('GET /streams/a'));
    expect(late).toMatch(/^HTTP\/1\.1 200 /);
    expect(late).toMatch(/\r\nConnection: close\r\n/i);
    // One whose answer had not begun.
    before.end('in the end');
    const { headers, body } = await parked;
    expect(headers).toMatch(/\r\nConnection: close\r\n/i);
    expect(body).toBe('in the end');
    // All that was before the listener closed.
    (await open()).destroy();

    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(sinceSignalMs()).toBeGreaterThanOrEqual(LAME_DUCK_ENDS_MS - EARLY_MS);
    // Nothing was left to wait for.
    expect(sinceSignalMs()).toBeLessThan(SOFT_DEADLINE_MS);
  });

  it('then closes its listener and idle connections, used or not, and finishes what is under way', async () => {
    const idle = await openIdle();
    const command = fetchWhole('/api/a/held/1/send', 'POST');
    const runtime = await untilHeld('/held/1/wake/send');
    const append = fetchWhole('/streams/held', 'POST');
    const history = await untilHeld('/held');
    terminate();

    const closed = idle.map(async (socket) => {
      await once(socket, 'end');
      return sinceSignalMs();
    });
    for (const closedAtMs of await Promise.all(closed)) {
      expect(closedAtMs).toBeGreaterThanOrEqual(LAME_DUCK_ENDS_MS - EARLY_MS);
    }
    await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await phase()).toBe('closing');

    runtime.end(ACCEPTED);
    expect((await command).headers).toMatch(/^HTTP\/1\.1 202 /);
    history.end('written');
    expect((await append).body).toBe('written');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(sinceSignalMs()).toBeLessThan(SOFT_DEADLINE_MS);
  });

  it('answers parked reads 503 from the soft deadline on, spread out, and ends event streams between events', async () => {
    const idle = await openIdle();
    let closed = 0;
    for (const socket of idle) socket.once('end', () => closed++);
    const events = fetchWhole('/streams/held/events');
    const stream = await untilHeld('/held/events');
    stream.writeHead(200, { 'content-type': 'text/event-stream' });
    // Part of an event is out, its rest comes after the soft deadline.
    stream.write('event: data\ndata: 1\n\nevent: control\nda');
    const READS = 10;
    let answered = 0;
    const reads = Array.from({ length: READS }, async (_, index) => {
      const answer = await fetchWhole(`/streams/held/${index}`);
      answered++;
      return { ...answer, atMs: sinceSignalMs() };
    });
    for (let index = 0; index < READS; index++) await untilHeld(`/held/${index}`);
    terminate();

    await Promise.race(reads);
    // They were closed when the lame duck ended.
    expect(closed).toBe(idle.length);
    // Ten of them over 15 % of the time: when the gateway has answered something else after the first, others still wait.
    expect(await phase()).toBe('refusing');
    expect(answered).toBeLessThan(READS);
    stream.write('ta: {}\n\nevent: data\ndata: 2\n\n');
    const { body: eventsRead } = await events;
    expect(unchunked(eventsRead)).toBe('event: data\ndata: 1\n\nevent: control\ndata: {}\n\n');
    expect(eventsRead.endsWith('0\r\n\r\n')).toBe(true);

    const answers = await Promise.all(reads);
    for (const { headers, body } of answers) {
      expect(headers).toMatch(/^HTTP\/1\.1 503 /);
      expect(headers).toMatch(/\r\nRetry-After: 1\r\n/i);
      expect(headers).toMatch(/\r\nCache-Control: no-store\r\n/i);
      expect(headers).toMatch(/\r\nConnection: close\r\n/i);
      const title = 'This gateway is shutting down';
      const detail = 'This copy of the gateway is shutting down; try again.';
      const requestId = /\r\nX-Request-Id: (\S+)\r\n/i.exec(headers)?.[1];
      expect(JSON.parse(body)).toEqual(problem(503, 'draining', title, detail, requestId));
    }
    // At the hard deadline they would have had no answer.
    const times = answers.map(({ atMs }) => atMs);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(SOFT_DEADLINE_MS - EARLY_MS);

    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(sinceSignalMs()).toBeLessThan(DRAIN_MS + LATE_MS);
  });

  it('breaks off at the hard deadline what it must not end: a half-sent body, a command without an answer', async () => {
    const half = fetchWhole('/streams/held/half');
    const body = await untilHeld('/held/half');
    body.write('the first half');
    const command = fetchWhole('/api/a/held/1/send', 'POST');
    await untilHeld('/held/1/wake/send');
    terminate();

    const broken = await half;
    expect(unchunked(broken.body)).toBe('the first half');
    expect(broken.body.endsWith('0\r\n\r\n')).toBe(false);
    // No answer at all: a 502 or 503 would invite another try of what may be done already.
    expect((await command).headers).toBe('');
    expect(sinceSignalMs()).toBeGreaterThanOrEqual(DRAIN_MS - EARLY_MS);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(sinceSignalMs()).toBeLessThan(DRAIN_MS + LATE_MS);

    const lines = gateway.log.filter(({ message }) => message === 'request');
    expect(lines.map(({ path, broken: isBroken }) => [path, isBroken])).toEqual(
      expect.arrayContaining([
        ['/streams/held/half', true],
        ['/api/a/held/1/send', true],
      ]),
    );
    // The process once ended on a log that was still on its way: lines changed places or were lost.
    expect(gateway.log.slice(-5).map(({ message }) => message)).toEqual([
      'requests broken off at the drain deadline',
      'request',
      'audit',
      'request',
      'the gateway has stopped',
    ]);
  });

  it('turns what comes on a kept connection after the soft deadline away', async () => {
    const kept = await openWire(gateway.port);
    // A request under way keeps the connection; another one is sent behind it.
    await kept.write(request('POST /api/a/held/1/send', 'Content-Length: 0'));
    const runtime = await untilHeld('/held/1/wake/send');
    const parked = fetchWhole('/streams/held');
    await untilHeld('/held');
    terminate();
    // Its answer comes at the soft deadline.
    expect((await parked).headers).toMatch(/^HTTP\/1\.1 503 /);
    await kept.write(request('POST /api/a/echo/2/send', 'Content-Length: 2') + '{}');
    // The gateway has read it before it answers what came later. The answers on one connection come in the order of the requests.
    expect(await ready()).toBe(503);
    runtime.end(ACCEPTED);
    await kept.over();
    expect(kept.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 202', 'HTTP/1.1 503']);
    expect(upstream.seen.map(({ target }) => target)).toEqual(['/held/1/wake/send', '/held']);
  });

  it('answers every pipelined request that it took, and closes behind the last', async () => {
    const kept = await openWire(gateway.port);
    const command = (id: string) => request(`POST /api/a/held/${id}/send`, 'Content-Length: 0');
    await kept.write(command('1') + command('2') + command('3'));
    const taken = [];
    for (const id of ['1', '2', '3']) taken.push(await untilHeld(`/held/${id}/wake/send`));
    terminate();
    await untilUnready(gateway);
    for (const runtime of taken) runtime.end(ACCEPTED);
    await kept.over();
    const heads = kept.received.match(/HTTP\/1\.1 \d+ |\r\nConnection: \S+/gi);
    expect(heads?.map((head) => head.trim().toLowerCase())).toEqual([
      'http/1.1 202',
      'connection: keep-alive',
      'http/1.1 202',
      'connection: keep-alive',
      'http/1.1 202',
      'connection: close',
    ]);
  });

  it('lets a request finish whose head was half there when the listener closed', async () => {
    const slow = await openWire(gateway.port);
    await slow.write('GET /streams/a HTTP/1.1\r\nHost: x\r\n');
    const other = await open();
    terminate();
    // Idle connections are closed now.
    await once(other.resume(), 'close');
    await slow.write(`${KEY}\r\n\r\n`);
    await slow.over();
    expect(slow.received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('ends at once at a second signal', async () => {
    const parked = fetchWhole('/streams/held');
    await untilHeld('/held');
    terminate();
    await untilUnready(gateway);
    // Two signals within half a second are one. The gateway has had the first.
    await sleep(600);
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(sinceSignalMs()).toBeLessThan(SOFT_DEADLINE_MS);
    expect((await parked).headers).toBe('');
  });

  // It ended the process at once, with all that was in progress.
  it('drains the same at SIGHUP', async () => {
    signalledAtMs = performance.now();
    gateway.signal('SIGHUP');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(sinceSignalMs()).toBeGreaterThanOrEqual(LAME_DUCK_ENDS_MS - EARLY_MS);
  });

  function request(line: string, ...headers: string[]): string {
    return rawRequest(line, [KEY, ...headers]).replace('Connection: close\r\n', '');
  }

  /** The raw answer, also of one that is broken off; without its own `Connection: close`. */
  async function fetchWhole(
    path: string,
    method = 'GET',
  ): Promise<{ headers: string; body: string }> {
    const wire = await openWire(gateway.port);
    const length = method === 'POST' ? ['Content-Length: 0'] : [];
    await wire.write(request(`${method} ${path}`, ...length));
    await wire.over();
    const answer = wire.received;
    const headEnd = answer.indexOf('\r\n\r\n');
    return headEnd === -1
      ? { headers: answer, body: '' }
      : { headers: answer.slice(0, headEnd + 2), body: answer.slice(headEnd + 4) };
  }

  function open(): Promise<Socket> {
    return openSocket(gateway.port);
  }

  /** A connection that never had a request, and one whose request is answered. */
  async function openIdle(): Promise<Socket[]> {
    const unused = await open();
    const used = await open();
    const answered = once(used, 'data');
    used.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await answered;
    return [unused, used];
  }
});

function environment(upstreamUrl: string): Record<string, string> {
  return {
    GATEWAY_HISTORY_URL: upstreamUrl,
    GATEWAY_RUNTIME_INGRESS_URL: upstreamUrl,
    GATEWAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS),
    // What the upstream holds back must be ended by the drain alone.
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '600000',
  };
}

/** The text of a chunked body, complete or not. */
function unchunked(body: string): string {
  let text = '';
  for (let at = 0; ;) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.slice(at, lineEnd), 16);
    if (lineEnd === -1 || !(size > 0)) return text;
    text += body.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}

async function readiness({ managementUrl }: GatewayChild): Promise<number> {
  return (await fetch(`${managementUrl}/health/ready`)).status;
}

function untilUnready(gateway: GatewayChild): Promise<void> {
  return until('the gateway is not ready', async () => (await readiness(gateway)) === 503);
}
