import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/gateway.ts';
import { logOf, scriptedGateway } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';
import { openWire, type Wire } from '../support/wire.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;

describe('requests that a client sends behind each other without waiting', () => {
  let held: { request: IncomingMessage; response: ServerResponse }[];
  let wire: Wire;
  const { gateway, upstream } = scriptedGateway((request, response) => {
    held.push({ request, response });
  });
  beforeEach(async () => {
    held = [];
    wire = await openWire(gateway.port);
  });
  afterEach(async () => {
    wire.reset();
    await until('nothing is under way', () => held.every(({ response }) => response.closed));
  });

  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: g\r\n${KEY}\r\n\r\n`;
  const put = (path: string): string =>
    `PUT ${path} HTTP/1.1\r\nHost: g\r\n${KEY}\r\nContent-Length: 2\r\n\r\nhi`;
  const untilHeld = (count: number): Promise<void> =>
    until(`the upstream has ${count} requests`, () => held.length >= count);
  const statuses = (): (string | undefined)[] =>
    [...wire.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  const closed = (): Promise<unknown> =>
    Promise.all(
      held.map(({ request }) => new Promise((resolve) => request.socket.once('close', resolve))),
    );

  it('are worked on at once, and all are answered in their order', async () => {
    const all = Array.from({ length: 40 }, (_, i) => `/streams/n${i}`);
    await wire.write(all.map(get).join(''));
    await untilHeld(all.length);
    for (const { request, response } of held.toReversed()) response.end(`body of ${request.url};`);
    await wire.until('body of /n39;');
    const order = [...wire.received.matchAll(/body of (\/n\d+);/g)].map(([, name]) => name);
    expect(order).toEqual(all.map((path) => path.slice('/streams'.length)));
  });

  it('are dropped with the client', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `/streams/n${i}`);
    await wire.write(names.map(get).join(''));
    await untilHeld(30);
    const left = closed();
    wire.reset();
    await left;
    await until('the log has a line of each', () =>
      names.every((name) =>
        logOf(gateway).some((line) => line.path === name && line.status === 499),
      ),
    );
    const answer = fetch(`${gateway.url}/streams/next`, { headers: AUTHORIZED });
    await untilHeld(31);
    held[30]?.response.end('next');
    expect(await (await answer).text()).toBe('next');
  });

  // Node keeps each request that it has parsed: 1 MB of them made 220 MB that nothing counted.
  it.each([
    ['parked', ''],
    [
      'the last of its connection',
      `PUT /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])(
    'close the connection when more than a hundred come behind one that is %s',
    async (_, last) => {
      await wire.write(get('/streams/parked') + last);
      await untilHeld(1);
      wire.socket.write('GET /health HTTP/1.1\r\nHost: g\r\n\r\n'.repeat(1_600));
      await wire.over();
      expect([statuses(), held.length]).toEqual([[], 1]);
      expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    },
  );

  // It was made, and nobody heard of it: the answer before it had been broken off, and the connection with it.
  it('are not begun behind an answer that is broken off before its turn', async () => {
    await wire.write(get('/streams/parked') + get('/streams/broken'));
    await untilHeld(2);
    const broken = held.find(({ request }) => request.url === '/broken')?.response;
    broken?.writeHead(200, { 'content-length': '100000' });
    broken?.write('x'.repeat(50_000));
    for (let i = 0; i < 20; i++) await turn();
    broken?.destroy();
    await fetch(`${gateway.url}/health`);
    await until('the broken request is in the log', () =>
      logOf(gateway).some(
        ({ path, message }) => path === '/streams/broken' && message === 'request',
      ),
    );
    await wire.write(put('/streams/late'));
    await fetch(`${gateway.url}/health`);
    expect(held.map(({ request }) => request.url)).not.toContain('/late');
  });

  // It was answered at once, and the answer to the PUT was lost.
  it('are answered before CONNECT is refused', async () => {
    await wire.write(`${put('/streams/a')}CONNECT elsewhere.test:80 HTTP/1.1\r\nHost: g\r\n\r\n`);
    await untilHeld(1);
    await fetch(`${gateway.url}/health`);
    expect(wire.received).toBe('');
    held[0]?.response.writeHead(201).end('made');
    expect(await wire.over()).toBe('end');
    expect(statuses()).toEqual(['201', '400']);
    expect(wire.received).toMatch(/made[^]*"code":"malformed_path"/);
  });

  // The one with the doubtful body was refused and the connection closed; the one behind it was made all the same.
  it.each([
    ['another coding', 'HTTP/1.1', 'gzip, chunked', '400'],
    ['an empty coding', 'HTTP/1.1', ', chunked', '400'],
    ['a coding in HTTP/1.0', 'HTTP/1.0', 'chunked', '200'],
  ])('are not taken behind a body with %s', async (_, version, coding, status) => {
    const doubtful = `POST /streams/a ${version}\r\nHost: g\r\n${KEY}\r\nConnection: keep-alive\r\nTransfer-Encoding: ${coding}\r\n\r\n`;
    await wire.write(`${doubtful}2\r\nhi\r\n0\r\n\r\n${put('/streams/behind')}`);
    if (status === '200') {
      await untilHeld(1);
      held[0]?.response.end();
    }
    expect(await wire.over()).toBe('end');
    await fetch(`${gateway.url}/health`);
    expect(statuses()).toEqual([status]);
    expect(upstream.seen.map(({ method }) => method)).toEqual(status === '200' ? ['POST'] : []);
  });

  // Node put the head of the answer in front of "100 Continue", which so became a part of the body: the last bytes of
  // the answer were then the beginning of the next one.
  it('are asked for their bodies only where nothing of the answer is there', async () => {
    const first = `GET /streams/first HTTP/1.1\r\nHost: g\r\n${KEY}\r\n\r\n`;
    const expecting = `DELETE /streams/second HTTP/1.1\r\nHost: g\r\n${KEY}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi`;
    await wire.write(first + expecting + get('/streams/third'));
    await untilHeld(3);
    const second = held.find(({ request }) => request.url === '/second');
    // An answer that cannot be used: the gateway's own takes its place before the first one's turn is over.
    const isRefused = new Promise((resolve) => second?.response.once('close', resolve));
    second?.response.writeHead(401).end('no');
    await isRefused;
    await fetch(`${gateway.url}/health`);
    held.find(({ request }) => request.url === '/first')?.response.end('one\n');
    expect(await wire.over()).toBe('end');
    expect(statuses()).toEqual(['200', '502']);
    const [, length, body] =
      /HTTP\/1\.1 502[^]*?Content-Length: (\d+)\r\n[^]*?\r\n\r\n([^]*)$/.exec(wire.received) ?? [];
    expect(body).toMatch(/^\{"type":.*\}$/);
    expect(Number(length)).toBe(body?.length);
  });

  it('are asked for their bodies when those before are answered', async () => {
    const expecting = `PUT /streams/second HTTP/1.1\r\nHost: g\r\n${KEY}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
    await wire.write(get('/streams/first') + expecting);
    await untilHeld(1);
    held[0]?.response.end('one\n');
    await wire.until('HTTP/1.1 100 Continue\r\n\r\n');
    await wire.write('hi');
    await untilHeld(2);
    held[1]?.response.end('two');
    await wire.until('two');
    expect(statuses()).toEqual(['200', '100', '200']);
  });

  // Node forgets those whose turn has not come when it hands a connection over: their reads stayed open for good.
  it('are all given up with CONNECT when the client goes', async () => {
    const connect = 'CONNECT elsewhere.test:80 HTTP/1.1\r\nHost: g\r\n\r\n';
    await wire.write(get('/streams/a') + get('/streams/b') + put('/streams/c') + connect);
    await untilHeld(3);
    const left = closed();
    wire.reset();
    await left;
  });

  describe('before what is no request', () => {
    const GARBAGE = 'NO REQUEST AT ALL\r\n\r\n';

    it('are answered first where they change something', async () => {
      await wire.write(put('/streams/a') + GARBAGE);
      await untilHeld(1);
      await fetch(`${gateway.url}/health`);
      held[0]?.response.writeHead(201).end('made');
      expect(await wire.over()).toBe('end');
      expect(statuses()).toEqual(['201', '400']);
    });

    it('are broken off where they only read, and no refusal takes their place', async () => {
      await wire.write(get('/streams/a'));
      await untilHeld(1);
      await wire.write(GARBAGE);
      await wire.over();
      expect(wire.received).toBe('');
    });

    it('are all answered before it where one of them changes something', async () => {
      const reads = Array.from({ length: 8 }, (_, i) => get(`/streams/n${i}`)).join('');
      await wire.write(put('/streams/a') + reads + GARBAGE);
      await untilHeld(9);
      for (const { response } of held) response.end('\n');
      expect(await wire.over()).toBe('end');
      expect(statuses()).toEqual([...Array.from({ length: 9 }, () => '200'), '400']);
    });
  });

  it('are refused in the middle of a body, and those before get their answers', async () => {
    const broken = `POST /streams/b HTTP/1.1\r\nHost: g\r\n${KEY}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
    await wire.write(put('/streams/a') + broken);
    await untilHeld(1);
    held[0]?.response.writeHead(201).end('made');
    expect(await wire.over()).toBe('end');
    expect(statuses()).toEqual(['201', '400']);
    const lines = logOf(gateway).filter(({ message }) => message === 'request');
    expect(lines.find(({ status }) => status === 400)).toMatchObject({
      method: 'POST',
      path: '/streams/b',
      reason: 'HPE_INVALID_CHUNK_SIZE',
    });
  });
});
