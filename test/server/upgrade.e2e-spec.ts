import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/gateway.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';
import { openWire, type Wire } from '../support/wire.ts';

const OWN = `Host: g\r\nAuthorization: ${AUTHORIZED.authorization}`;
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket';
/** The bytes that must never become a request. */
const HIDDEN = `DELETE /streams/hidden HTTP/1.1\r\n${OWN}\r\n\r\n`;
/** A write whose head comes in one read and whose body, another request, in the next. */
const CARRIER = `POST /streams/carrier HTTP/1.1\r\n${OWN}\r\nContent-Length: ${HIDDEN.length}\r\n\r\n`;

let answers: (() => void)[];
const { gateway, upstream } = scriptedGateway((_, response) => {
  answers.push(() => response.writeHead(200, { 'content-length': 2 }).end('ok'));
});

describe('a request with Upgrade', () => {
  let wire: Wire;
  beforeEach(async () => {
    answers = [];
    wire = await openWire(gateway.port);
  });
  afterEach(() => wire.reset());

  const request = (method: string, headers: string, body = ''): string =>
    `${method} /streams/a HTTP/1.1\r\n${OWN}\r\n${headers}\r\n\r\n${body}`;
  const untilAsked = (times = 1): Promise<void> =>
    until(`the upstream is asked ${times} times`, () => answers.length >= times);
  /** The gateway has read all that was sent before. */
  const untilRead = (): Promise<unknown> => fetch(`${gateway.url}/health`);
  const seen = (): string[] =>
    upstream.seen.map(({ method, target, body }) => `${method} ${target} ${body.toString()}`);

  /** Sends the first bytes, then the others in a read of their own, and lets the upstream answer. */
  async function exchange(first: string, later: string): Promise<void> {
    await wire.write(first);
    await untilAsked();
    await wire.write(later);
    await untilRead();
    for (const answer of answers.splice(0)) answer();
    expect(await wire.over()).toBe('end');
    expect(wire.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n\r\nok$/);
    expect(wire.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  }

  // Node drops what it reads together with the upgrade. The head of the POST was gone, and its body ran.
  it.each([
    ['is all', UPGRADE],
    ['has more', 'Connection: keep-alive, Upgrade\r\nUpgrade:\r\nExpect: x'],
  ])('is the last one of its connection, and nothing behind it runs: it %s', async (_, headers) => {
    await exchange(request('GET', headers) + CARRIER, HIDDEN);
    expect(seen()).toEqual(['GET /a ']);
  });

  it('has its own body, however it is cut, and nothing behind that runs', async () => {
    const head = request('POST', `${UPGRADE}\r\nContent-Length: ${HIDDEN.length}`);
    await wire.write(head + HIDDEN.slice(0, 10));
    await untilRead();
    await exchange(HIDDEN.slice(10) + CARRIER, HIDDEN);
    expect(seen()).toEqual([`POST /a ${HIDDEN}`]);
  });

  it('has its own body in chunks, and nothing behind that runs', async () => {
    const chunks = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;
    await exchange(
      request('POST', `${UPGRADE}\r\nTransfer-Encoding: chunked`, chunks) + CARRIER,
      HIDDEN,
    );
    expect(seen()).toEqual([`POST /a ${HIDDEN}`]);
  });

  it('is asked for its body where it waits for that', async () => {
    await wire.write(request('PUT', `${UPGRADE}\r\nExpect: 100-continue\r\nContent-Length: 2`));
    await wire.until('HTTP/1.1 100 Continue\r\n\r\n');
    wire.received = '';
    await exchange('hi', CARRIER + HIDDEN);
    expect(seen()).toEqual(['PUT /a hi']);
  });

  // The frames of the protocol that it hoped for broke off its answer.
  it('is answered although what comes behind it is no HTTP', async () => {
    await exchange(request('GET', UPGRADE), '\x81\x05hello'.repeat(100));
    expect(seen()).toEqual(['GET /a ']);
  });

  it('leaves those before it as they were', async () => {
    await wire.write(request('GET', 'X-A: b') + request('GET', UPGRADE) + CARRIER);
    await untilAsked(2);
    await wire.write(HIDDEN);
    await untilRead();
    for (const answer of answers) answer();
    expect(await wire.over()).toBe('end');
    expect(wire.received.match(/^Connection: .*$/gm)).toEqual([
      'Connection: keep-alive',
      'Connection: close',
    ]);
    expect(seen()).toEqual(['GET /a ', 'GET /a ']);
  });

  it('is refused like any other, and nothing behind it runs', async () => {
    await wire.write(`GET /registry/x HTTP/1.1\r\nHost: g\r\n${UPGRADE}\r\n\r\n${CARRIER}`);
    wire.socket.write(HIDDEN, () => undefined);
    await wire.over();
    expect(wire.received).toMatch(/^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/);
    expect(wire.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await untilRead();
    expect(seen()).toEqual([]);
  });

  it('may say so in its trailers, where that has no meaning', async () => {
    const body = `2\r\nhi\r\n0\r\n${UPGRADE}\r\n\r\n`;
    await wire.write(request('POST', 'Transfer-Encoding: chunked', body) + HIDDEN);
    await untilAsked(2);
    expect(seen().toSorted()).toEqual(['DELETE /hidden ', 'POST /a hi']);
  });
});

// Node 22 hid the headers behind the first thousand, and obeyed them: the gateway sent a POST without its body, and took what
// followed an upgrade for a request.
describe('what stands behind a thousand headers', () => {
  const MANY = 'X-Forwarded-A:\r\n'.repeat(1_000);
  let wire: Wire;
  beforeEach(async () => {
    answers = [];
    wire = await openWire(gateway.port);
  });
  afterEach(() => wire.reset());

  const send = async (method: string, last: string, rest: string): Promise<void> => {
    await wire.write(`${method} /streams/a HTTP/1.1\r\n${OWN}\r\n${MANY}${last}\r\n\r\n${rest}`);
  };
  const bodies = (): string[] => upstream.seen.map(({ body }) => body.toString());

  it.each([
    ['a length', `Content-Length: ${HIDDEN.length}`, HIDDEN],
    [
      'chunks',
      'Transfer-Encoding: chunked',
      `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
    ],
  ])('counts: %s', async (_, last, rest) => {
    await send('POST', last, rest);
    await until('the upstream is asked', () => answers.length === 1);
    expect(bodies()).toEqual([HIDDEN]);
  });

  it('counts: an upgrade, behind which nothing runs', async () => {
    await send('GET', UPGRADE, CARRIER);
    wire.socket.write(HIDDEN, () => undefined);
    await until('the upstream is asked', () => answers.length === 1);
    answers[0]?.();
    await wire.over();
    expect(wire.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n\r\nok$/);
    expect(bodies()).toEqual(['']);
  });

  it('counts: another coding, behind which nothing runs', async () => {
    await send('POST', 'Transfer-Encoding: gzip, chunked', `0\r\n\r\n${HIDDEN}`);
    await wire.over();
    expect(wire.received).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n/);
    expect(bodies()).toEqual([]);
  });
});
