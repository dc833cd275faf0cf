import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { API_KEY, AUTHORIZED, READ_TOKEN_SECRET } from '../support/gateway.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { openSocket } from '../support/open-socket.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { until } from '../support/until.ts';

const OTHER_KEY = 'another-api-key-0123456789';

describe('limits', () => {
  let upstream: ScriptedUpstream;
  let gateway: MeasuredGateway;
  /** The answers that the history store has not given yet. */
  let parked: (() => void)[];

  const start = async (env: Record<string, string>): Promise<void> => {
    const settings = {
      GATEWAY_HISTORY_URL: upstream.url,
      GATEWAY_API_KEYS: `${API_KEY},${OTHER_KEY}`,
    };
    gateway = forThisTest(await startMeasuredGateway({ ...settings, ...env }));
  };
  const read = (path: string, key?: string): Promise<Response> =>
    fetch(`${gateway.url}/streams/${path}`, {
      headers: key ? { authorization: `Bearer ${key}` } : AUTHORIZED,
    });
  /** Resolves once the upstream has so many requests. */
  const untilParked = (count: number): Promise<void> =>
    until(`${count} requests are parked`, () => parked.length >= count);

  beforeEach(async () => {
    parked = [];
    upstream = forThisTest(
      await startScriptedUpstream((request, response) => {
        if (request.url?.includes('parked')) parked.push(() => response.end('in the end'));
        else response.end('at once');
      }),
    );
  });

  /** Expects that a read is refused with this problem, and may be tried again in a second. */
  async function expectRefusal(
    refused: Response,
    ...[status, code, title, detail]: [number, string, string, string]
  ): Promise<void> {
    expect(refused.status).toBe(status);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    const id = refused.headers.get('x-request-id') ?? '';
    expect(await refused.json()).toEqual(problem(status, code, title, detail, id));
  }
  const expectOverload = (refused: Response, detail: string): Promise<void> =>
    expectRefusal(refused, 503, 'overloaded', 'The gateway is at its limit', detail);

  it('turns a read beyond the cap of all away, answers the open ones, and keeps the management port', async () => {
    await start({ GATEWAY_MAX_OPEN_READS: '2' });
    const open = [read('parked/1'), read('parked/2', OTHER_KEY)];
    await untilParked(2);

    const tooMany = 'The gateway has too many reads open; try again in a moment.';
    await expectOverload(await read('third'), tooMany);
    expect((await fetch(`${gateway.managementUrl}/health/ready`)).status).toBe(200);
    expect((await fetch(`${gateway.managementUrl}/health/live`)).status).toBe(200);
    // A write is no read.
    expect((await write()).status).toBe(200);

    for (const finish of parked) finish();
    const answers = await Promise.all((await Promise.all(open)).map((answer) => answer.text()));
    expect(answers).toEqual(['in the end', 'in the end']);
    const next = await read('third');
    expect([next.status, await next.text()]).toEqual([200, 'at once']);
  });

  // Only the first of the answers that a connection waits for is attached to its socket.
  it('gives back the places of all pipelined reads of a client that has gone', async () => {
    await start({ GATEWAY_MAX_OPEN_READS: '3', GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL: '3' });
    const socket = await openConnection();
    const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZED.authorization}\r\n\r\n`;
    socket.write(['1', '2', '3'].map((path) => `GET /streams/parked/${path} ${head}`).join(''));
    await untilParked(3);
    // A reset closes it too.
    const closed = [...upstream.openSockets].map(
      (upstreamSocket) => new Promise((resolve) => upstreamSocket.once('close', resolve)),
    );
    socket.destroy();
    await Promise.all(closed);

    const reads = ['4', '5', '6'].map((path) => read(`parked/${path}`));
    await untilParked(6);
    for (const finish of parked) finish();
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual([200, 200, 200]);
    const gone = gateway.logLines.filter((line) => line.includes('"status":499'));
    expect(gone).toHaveLength(3);
  });

  it('turns a read beyond the cap of its credential away, and lets another credential read', async () => {
    await start({ GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL: '1' });
    const open = read('parked/1');
    await untilParked(1);

    const tooMany = 'Too many reads are open with this credential; try again in a moment.';
    await expectOverload(await read('second'), tooMany);
    expect((await read('second', OTHER_KEY)).status).toBe(200);
    for (const finish of parked) finish();
    expect(await (await open).text()).toBe('in the end');
  });

  // With four tokens, each of which had a quarter of the open reads, one user kept everybody else out.
  it('turns a read beyond the cap of its subject away, whichever token it has, and lets other users read', async () => {
    await start({
      GATEWAY_MAX_OPEN_READS: '12',
      GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET,
      GATEWAY_LOG_LEVEL: 'info',
    });
    const tokenOf = (subject: string | undefined, ttlSeconds: number) =>
      mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds, subject });
    const tokens = await Promise.all([60, 61, 62, 63].map((ttl) => tokenOf('user-4711', ttl)));
    const open = tokens.slice(0, 3).map((token, index) => read(`parked/${index}`, token));
    await untilParked(3);

    const tooMany =
      'The subject of this read token has 3 reads open, as many as one may have. Mint the tokens of each user with a sub of that user alone, and close reads that nobody needs; try again in a moment.';
    for (const token of tokens) await expectOverload(await read('fourth', token), tooMany);
    for (const other of ['grace', undefined]) {
      expect((await read('fourth', await tokenOf(other, 60))).status).toBe(200);
    }
    expect((await read('fourth')).status).toBe(200);
    expect(await gateway.value('gateway_open_reads_of_busiest_subject')).toBe(3);
    expect(await gateway.value('gateway_open_reads_per_subject_limit')).toBe(3);
    const labels = { code: 'overloaded', reason: 'open_reads_per_subject' };
    expect(await gateway.value('gateway_problems_total', labels)).toBe(4);
    // Who it is stands in one line, and in no label.
    const lines = gateway.logLines.filter((line) => line.includes('as many reads open'));
    expect(
      lines.filter((line) => line.includes('"subSha256"')).map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({
        level: 'warn',
        subSha256: createHash('sha256').update('user-4711').digest('hex'),
        openReads: 3,
        setting: 'GATEWAY_MAX_OPEN_READS_PER_SUBJECT',
      }),
    ]);
    expect(JSON.stringify(await gateway.metrics())).not.toContain('user-4711');

    for (const finish of parked) finish();
    for (const answer of open) expect(await (await answer).text()).toBe('in the end');
    expect((await read('fourth', tokens[0])).status).toBe(200);
  });

  it('counts the requests of all tokens of one subject against one rate', async () => {
    await start({
      GATEWAY_RATE_LIMIT_PER_SECOND: '1',
      GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET,
    });
    const token = (subject: string, ttlSeconds: number) =>
      mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds, subject });
    const tokens = await Promise.all(Array.from({ length: 10 }, (_, i) => token('ada', 60 + i)));
    const answers = await Promise.all(tokens.map((each) => read('a', each)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    const detail =
      'Too many requests of the subject of this read token; wait as long as Retry-After says.';
    for (const answer of refused) {
      await expectRefusal(answer, 429, 'rate_limited', 'Too many requests', detail);
    }
    expect((await read('a', await token('grace', 60))).status).toBe(200);
  });

  it('answers a connection beyond the cap 503 and closes it where none is idle, and serves those that are open', async () => {
    await start({ GATEWAY_MAX_CONNECTIONS: '2' });
    const [first, second] = [await parkedConnection(), await parkedConnection()];
    const third = await openConnection();

    const refused = await ask(third, '/health');
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/\r\nRetry-After: 1\r\n/i);
    expect(refused).toMatch(/\r\nConnection: close\r\n/i);
    expect(refused).toMatch(/"code":"overloaded"/);
    await once(third, 'close');
    expect((await fetch(`${gateway.managementUrl}/health/ready`)).status).toBe(200);

    first.destroy();
    await gateway.until('gateway_connections', {}, 1);
    const fourth = await openConnection();
    expect(await ask(fourth, '/health')).toMatch(/^HTTP\/1\.1 200 /);
    for (const finish of parked) finish();
    expect(await nextAnswer(second)).toMatch(/^HTTP\/1\.1 200 /);
  });

  // 200 connections that each sent one GET /health, without a credential, kept all others out for as long as they were kept.
  it('closes the connections that have been idle for longest before it refuses one', async () => {
    await start({ GATEWAY_MAX_CONNECTIONS: '3' });
    const idle = [await openConnection(), await openConnection(), await openConnection()];
    for (const socket of idle) expect(await ask(socket, '/health')).toMatch(/^HTTP\/1\.1 200 /);
    // The first one is no longer the one that has been idle for longest.
    expect(await ask(idle[0]!, '/health')).toMatch(/^HTTP\/1\.1 200 /);
    const closed = [once(idle[1]!, 'close'), once(idle[2]!, 'close')];

    const readers = [await parkedConnection(), await parkedConnection()];
    await Promise.all(closed);
    expect(await ask(idle[0]!, '/health')).toMatch(/^HTTP\/1\.1 200 /);
    for (const finish of parked) finish();
    for (const reader of readers) expect(await nextAnswer(reader)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await gateway.value('gateway_clients_ended_total', { reason: 'idle' })).toBe(2);
  });

  it('drops a connection far beyond the cap unheard', async () => {
    await start({ GATEWAY_MAX_CONNECTIONS: '10' });
    for (let i = 0; i < 10; i++) await parkedConnection();
    await openConnection();
    const dropped = await openConnection();
    await once(dropped, 'close');
    expect(dropped.bytesRead).toBe(0);
  });

  it('answers 429 beyond the rate of a credential, and not to another one', async () => {
    await start({ GATEWAY_RATE_LIMIT_PER_SECOND: '1' });
    const startedAtMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 10 }, () => read('a')));
    const seconds = Math.ceil((performance.now() - startedAtMs) / 1_000);
    const good = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    // A busy machine may take longer than a second for all of them.
    expect(good.length).toBeGreaterThan(0);
    expect(good.length).toBeLessThanOrEqual(1 + seconds);
    expect(refused.length).toBeGreaterThan(0);
    const detail = 'Too many requests with this credential; wait as long as Retry-After says.';
    for (const answer of refused) {
      await expectRefusal(answer, 429, 'rate_limited', 'Too many requests', detail);
    }
    expect(upstream.seen).toHaveLength(good.length);
    expect((await read('a', OTHER_KEY)).status).toBe(200);
  });

  it('counts neither a refused credential nor liveness against any rate', async () => {
    await start({ GATEWAY_RATE_LIMIT_PER_SECOND: '1' });
    for (let i = 0; i < 5; i++) {
      expect((await read('a', 'not-a-key-of-this-place')).status).toBe(401);
      expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    }
    expect((await read('a')).status).toBe(200);
  });

  it('has no rate limit unless one is set', async () => {
    await start({});
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await read('a');
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  function write(): Promise<Response> {
    return fetch(`${gateway.url}/streams/written`, {
      method: 'POST',
      headers: AUTHORIZED,
      body: 'x',
    });
  }

  async function openConnection(): Promise<Socket> {
    const socket = await openSocket(gateway.port);
    afterThisTest(() => socket.destroy());
    return socket;
  }

  async function ask(socket: Socket, path: string): Promise<string> {
    socket.setEncoding('latin1').write(`GET ${path} HTTP/1.1\r\nHost: gateway.test\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [string];
    return answer;
  }

  /** A connection with a read that the history store has not answered yet. */
  async function parkedConnection(): Promise<Socket> {
    const socket = await openConnection();
    const head = `Host: g\r\nAuthorization: ${AUTHORIZED.authorization}`;
    const before = parked.length;
    socket.write(`GET /streams/parked/${before} HTTP/1.1\r\n${head}\r\n\r\n`);
    await untilParked(before + 1);
    return socket;
  }

  async function nextAnswer(socket: Socket): Promise<string> {
    return String(socket.read() ?? (await once(socket, 'data'))[0]);
  }
});
