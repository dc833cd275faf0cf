import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer, Socket, type AddressInfo, type Server } from 'node:net';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls';
import { TLS_IDENTITY } from '../../../../test/support/tls-identity.ts';
import { fakeTime, pass } from '../../../../test/support/fake-time.ts';
import { awaited, until } from '../../../../test/support/until.ts';
import type { HeaderList } from '../../../platform/http/header-list.ts';
import { NameResolver } from '../../../platform/names/name-resolver.ts';
import type { Reached } from '../send-again.ts';
import { Addresses } from './addresses.ts';
import { BodyStalled, ConnectTimeout } from './connection-errors.ts';
import { UpstreamConnection } from './connection.ts';
import { connectorTo, type Connector } from './connector.ts';
import type { WireHandler, WireRequest } from './wire-exchange.ts';

const ADDRESSES = new Addresses('localhost', new NameResolver(2_000));
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

/** One end of what is tested: sends what the test says. */
class Upstream {
  readonly sockets: Socket[] = [];
  requests = '';
  closesBehindAnswer = false;
  answer: string;
  /** Whether it answers now. */
  isAsked = (bytes: Buffer): boolean => bytes.includes('\r\n\r\n');
  /** Resolved when the first request is there. */
  readonly asked = Promise.withResolvers<void>();
  private readonly server: Server;

  constructor(server: Server, event: string, answer: string) {
    this.server = server;
    this.answer = answer;
    server.on(event, (socket: Socket) => {
      this.sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        this.requests += bytes.toString('latin1');
        if (!this.isAsked(bytes)) return;
        this.asked.resolve();
        socket.write(this.answer, 'latin1');
        if (this.closesBehindAnswer) socket.end();
      });
    });
  }

  async url(protocol: string): Promise<URL> {
    this.server.listen(0, 'localhost');
    await once(this.server, 'listening');
    return new URL(`${protocol}//localhost:${(this.server.address() as AddressInfo).port}`);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

interface Outcome {
  status: number | undefined;
  headers: HeaderList;
  body: string;
  error?: Error;
  reached?: Reached;
}

const READ: WireRequest = {
  method: 'GET',
  target: '/x',
  headers: ['host', 'store.test', 'x-latin1', '\xe4'],
};

/** Sends a request, and resolves when it is over. */
function outcomeOf(
  connection: UpstreamConnection,
  request: Partial<WireRequest> = {},
  handler: Partial<WireHandler> = {},
): Promise<Outcome> {
  const outcome: Outcome = { status: undefined, headers: [], body: '' };
  const over = new Promise<Outcome>((resolve) => {
    const owner: WireHandler = {
      onHead: (_, status, headers) => Object.assign(outcome, { status, headers }),
      onChunk: (_, chunk) => {
        outcome.body += chunk.toString('latin1');
      },
      onEnd: () => resolve(outcome),
      onError: (_, error, reached) => resolve({ ...outcome, error, reached }),
      onUnproven: () => undefined,
      onBodySent: () => undefined,
      ...handler,
    };
    connection.send({ ...READ, ...request }, { owner });
  });
  return awaited('the request is over', over);
}

describe('UpstreamConnection', () => {
  let upstream: Upstream | undefined;
  let connection: UpstreamConnection;
  let lost: Promise<void>;

  afterEach(() => {
    connection.discard();
    upstream?.close();
  });

  function connectTo(
    url: URL,
    connect: Connector = connectorTo(url, ADDRESSES),
    isKept = true,
  ): UpstreamConnection {
    const { promise, resolve } = Promise.withResolvers<void>();
    lost = promise;
    connection = new UpstreamConnection({
      connect,
      openedAtMs: 0,
      isKept,
      onSettled: () => undefined,
      onLost: () => resolve(),
    });
    return connection;
  }

  async function connectToUpstream(answer: string, isKept = true): Promise<Upstream> {
    upstream = new Upstream(createServer(), 'connection', answer);
    connectTo(await upstream.url('http:'), undefined, isKept);
    return upstream;
  }
  const read = (target = READ.target): Promise<Outcome> => outcomeOf(connection, { target });

  it('sends one request after the other, and the bytes of headers as they are', async () => {
    const { sockets } = await connectToUpstream(HELLO);
    for (const target of ['/a', '/b?c']) {
      expect(await read(target)).toEqual({
        status: 200,
        headers: ['Content-Length', '5'],
        body: 'hello',
      });
    }
    const rest = 'HTTP/1.1\r\nhost: store.test\r\nx-latin1: \xe4\r\nconnection: keep-alive\r\n\r\n';
    expect(upstream?.requests).toBe(`GET /a ${rest}GET /b?c ${rest}`);
    expect(sockets).toHaveLength(1);
  });

  // Two lines in one are a second request.
  it.each<[string, Partial<WireRequest>]>([
    ['target', { target: '/x HTTP/1.1\r\n\r\nGET /y' }],
    ['target', { target: '/x\n' }],
    ['target', { target: '/x\0' }],
    ['target', { target: '/x\u010a' }],
    ['method', { method: 'GET /y HTTP/1.1\r\n' }],
    ['header', { headers: ['x-a', 'b\r\nx-c: d'] }],
    ['header', { headers: ['x-a', '\u010d\u010a'] }],
  ])('sends nothing whose %s would be another one: %j', async (_, request) => {
    await connectToUpstream(HELLO);
    expect(await outcomeOf(connection, request)).toMatchObject({
      error: new Error('the request holds what cannot be sent'),
      reached: 'nowhere',
    });
    await read();
    expect(upstream?.requests).toMatch(/^GET \/x HTTP\/1\.1\r\nhost/);
  });

  it.each([
    ['', 60_000],
    ['Keep-Alive: timeout=5\r\n', 3_000],
    ['keep-alive: max=9, Timeout=30\r\n', 28_000],
    ['Keep-Alive: timeout=600\r\n', 60_000],
  ])('is kept for as long as the upstream keeps it (%j)', async (header, keptMs) => {
    await connectToUpstream(HELLO.replace('\r\n', `\r\n${header}`));
    const beganMs = performance.now();
    await read();
    expect(connection.usableUntilMs).toBeGreaterThanOrEqual(beganMs + keptMs);
    expect(connection.usableUntilMs).toBeLessThanOrEqual(performance.now() + keptMs);
  });

  it.each([
    ['Keep-Alive: timeout=2', HELLO.replace('\r\n', '\r\nKeep-Alive: timeout=2\r\n')],
    ['Connection: close', HELLO.replace('\r\n', '\r\nConnection: close\r\n')],
    ['a second answer', HELLO + HELLO],
    ['the beginning of a second answer', `${HELLO}HTTP`],
    ['a byte too many', `${HELLO}!`],
  ])('is not kept behind an answer with %s', async (_what, answer) => {
    await connectToUpstream(answer);
    expect(await read()).toMatchObject({ status: 200, body: 'hello' });
    expect(connection.usableUntilMs).toBe(0);
  });

  // The late body of a HEAD reached the next reader.
  it.each([
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['HEAD', 'HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n'],
    ['GET', 'HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n'],
    ['GET', 'HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ] as const)('is not kept where a body may follow: %s, %j', async (method, answer) => {
    await connectToUpstream(answer);
    expect(await outcomeOf(connection, { method })).toMatchObject({ body: '' });
    expect(connection.usableUntilMs).toBe(0);
  });

  it('is lost when something comes that nobody asked for', async () => {
    const { sockets } = await connectToUpstream(HELLO);
    await read();
    sockets[0]?.write(HELLO);
    await lost;
  });

  it('is lost when the upstream closes it', async () => {
    const { sockets } = await connectToUpstream(HELLO);
    await read();
    sockets[0]?.end();
    await lost;
  });

  it.each([
    ['', 'sent'],
    ['HTTP/1.1 2', 'answered'],
    [HELLO.slice(0, -1), 'answered'],
  ])('tells what the upstream had answered when it closed (%j)', async (begun, reached) => {
    (await connectToUpstream(begun)).closesBehindAnswer = true;
    expect(await read()).toMatchObject({ error: expect.anything(), reached });
  });

  describe('that fills its buffer again and again', () => {
    const FULL = 'x'.repeat(65_536);
    let resumed: number;
    let bring: (text: string) => boolean;

    beforeEach(async () => {
      resumed = 0;
      connectTo(new URL('http://store.test'), (onread, onOpen) => {
        const socket = new Socket();
        socket.resume = () => (resumed++, socket);
        socket.write = () => true;
        bring = (text) => {
          const buffer = onread.buffer as Buffer;
          return onread.callback(buffer.write(text, 'latin1'), buffer);
        };
        process.nextTick(onOpen);
        return socket;
      });
      // It is never over, and no other suite is told so a minute later.
      read().catch(() => undefined);
      await nextTurn();
      bring('HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n');
      for (let times = 0; times < 64; times++) expect(bring(FULL)).toBe(true);
    });

    // 600 of them delayed all others for two seconds.
    it('waits for the next turn, and goes on then', async () => {
      expect([bring(FULL), resumed]).toEqual([false, 0]);
      await nextTurn();
      await nextTurn();
      expect([bring(FULL), resumed]).toEqual([true, 1]);
    });

    it('waits for its reader, too, if that has paused it', async () => {
      expect(bring(FULL)).toBe(false);
      connection.pause();
      await nextTurn();
      await nextTurn();
      expect(resumed).toBe(0);
      connection.resume();
      expect(resumed).toBe(1);
    });

    it('does not go on in the same turn when its reader resumes it', async () => {
      expect(bring(FULL)).toBe(false);
      connection.pause();
      connection.resume();
      expect(resumed).toBe(0);
      await nextTurn();
      await nextTurn();
      expect(resumed).toBe(1);
    });

    it('goes on at once with less than a full buffer', () => {
      expect(bring(FULL.slice(1))).toBe(true);
    });
  });

  it('stops and continues', async () => {
    const size = 8_000_000;
    await connectToUpstream(
      `HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`,
    );
    let bytes = 0;
    let pauses = 0;
    const { error } = await outcomeOf(
      connection,
      {},
      {
        onChunk: (_, chunk) => {
          bytes += chunk.length;
          const atPause = bytes;
          connection.pause();
          pauses++;
          setImmediate(() => {
            expect(bytes).toBe(atPause);
            connection.resume();
          });
        },
      },
    );
    expect([error, bytes]).toEqual([undefined, size]);
    expect(pauses).toBeGreaterThan(10);
  });

  describe('that sends a body', () => {
    const HEAD = 'POST /x HTTP/1.1\r\nhost: store.test\r\nx-latin1: \xe4\r\n';
    const KEPT = 'connection: keep-alive\r\n\r\n';

    it.each<[string, Partial<WireRequest>, string]>([
      ['it with its length', { body: { bytes: Buffer.from('ab\xff') } }, 'content-length: 4\r\n'],
      ['that there is none', {}, 'content-length: 0\r\n'],
    ])('says %s', async (_, request, length) => {
      await connectToUpstream(HELLO);
      await outcomeOf(connection, { method: 'POST', ...request });
      const body = request.body ? Buffer.from('ab\xff').toString('latin1') : '';
      expect(upstream?.requests).toBe(`${HEAD}${length}${KEPT}${body}`);
    });

    it('says to the upstream if the connection is for one request', async () => {
      await connectToUpstream(HELLO, false);
      await outcomeOf(connection, { method: 'DELETE' });
      expect(upstream?.requests).toMatch(/^DELETE .*content-length: 0\r\nconnection: close\r\n/s);
      expect(connection.usableUntilMs).toBe(0);
    });

    describe('as a stream', () => {
      let stream: PassThrough;
      let bodySent: number;
      beforeEach(() => {
        stream = new PassThrough();
        bodySent = 0;
      });

      /** Sends the request whose body the test writes. */
      async function post(
        lengthBytes: number,
        handler: Partial<WireHandler> = {},
        answersWith = '!',
      ): Promise<{ outcome: Promise<Outcome>; upstream: Upstream }> {
        const reached = await connectToUpstream(HELLO);
        reached.isAsked = (bytes) => bytes.includes(answersWith);
        const request = { method: 'POST', body: { stream, lengthBytes } };
        const outcome = outcomeOf(connection, request, {
          ...handler,
          onBodySent: () => void bodySent++,
        });
        return { outcome, upstream: reached };
      }
      const received = (upstream: Upstream, text: string): Promise<void> =>
        until(
          () => `${text} comes, after ${upstream.requests}`,
          () => upstream.requests.endsWith(text),
        );

      it('sends the head at once, and each piece as it comes', async () => {
        const { outcome, upstream } = await post(4);
        await received(upstream, `${HEAD}content-length: 4\r\n${KEPT}`);
        stream.write('ab');
        await received(upstream, 'ab');
        expect([connection.isSending(), bodySent]).toEqual([true, 0]);
        stream.end('c!');
        expect(await outcome).toMatchObject({ status: 200, body: 'hello' });
        expect(upstream.requests).toBe(`${HEAD}content-length: 4\r\n${KEPT}abc!`);
        expect([connection.isSending(), bodySent]).toEqual([false, 1]);
        expect(connection.usableUntilMs).toBeGreaterThan(0);
      });

      it('reads no more of it than an upstream takes that does not read', async () => {
        const { outcome, upstream } = await post(64_000_000, {}, 'POST');
        upstream.answer = '';
        await received(upstream, KEPT);
        upstream.sockets[0]?.pause();
        let written = 0;
        const write = (): void => {
          while (written < 64_000_000) {
            written += 1_000_000;
            if (!stream.write(Buffer.alloc(1_000_000, 'x'))) break;
          }
        };
        stream.on('drain', write);
        write();
        // It has left as far as the kernel takes it, and no further.
        await until('the upstream holds it up', () => !connection.isSending());
        expect(written).toBeLessThan(64_000_000);
        expect(connection.isSending()).toBe(false);
        upstream.answer = HELLO;
        upstream.isAsked = () => upstream.requests.length > 64_000_000;
        upstream.sockets[0]?.resume();
        stream.on('drain', () => void (written >= 64_000_000 && stream.end()));
        expect(await outcome).toMatchObject({ status: 200 });
      });

      it('is sending for as long as it waits for the rest of it, and not once all has left', async () => {
        const { outcome, upstream } = await post(3, {}, 'POST');
        upstream.answer = '';
        await received(upstream, KEPT);
        expect([connection.isSending(), connection.isSending()]).toEqual([true, true]);
        stream.end('abc');
        await received(upstream, 'abc');
        expect([connection.isSending(), bodySent]).toEqual([false, 1]);
        upstream.sockets[0]?.write(HELLO);
        await outcome;
      });

      // The rest of the body stood before the next request on its connection.
      it('takes an answer that comes before the whole body, and is not used again', async () => {
        const { outcome, upstream } = await post(1_000_000, {}, 'POST');
        stream.write('part');
        expect(await outcome).toMatchObject({ status: 200, body: 'hello' });
        expect([connection.usableUntilMs, connection.isSending(), bodySent]).toEqual([0, false, 0]);
        expect(upstream.requests).not.toContain('rest');
        // What still comes belongs to nobody, and is read for the next request of the client.
        const drained = once(stream, 'end');
        stream.end(Buffer.alloc(999_996, 'rest'));
        await awaited('the rest of the body is read', drained);
        expect(upstream.requests).not.toContain('rest');
      });

      it('reads the rest of it when the connection is lost', async () => {
        const { outcome, upstream } = await post(1_000_000);
        await received(upstream, KEPT);
        upstream.sockets[0]?.resetAndDestroy();
        expect(await outcome).toMatchObject({ reached: 'sent' });
        const drained = once(stream, 'end');
        stream.end(Buffer.alloc(1_000_000));
        await awaited('the rest of the body is read', drained);
        expect(bodySent).toBe(0);
      });
    });
  });

  describe('checked now and then', () => {
    const TIMEOUTS = { connectMs: 1_000, stallMs: 100, silenceMs: 9_000 };
    const BEGUN = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel';
    const EVENTS = BEGUN.replace('\r\n', '\r\nContent-Type: text/event-stream\r\n');

    /** Resolves once the beginning of the body is there; the outcome is that of the whole. */
    async function begin(answer = BEGUN) {
      await connectToUpstream(answer);
      const begun = Promise.withResolvers<void>();
      const handler = { onChunk: () => begun.resolve() };
      const outcome = outcomeOf(connection, {}, handler).then(({ error }) => error);
      if (answer !== '') await begun.promise;
      return { outcome };
    }
    const checkAt = (...times: number[]): void => {
      for (const ms of times) connection.checkTimeouts(ms, TIMEOUTS);
    };

    // 100 reads and 50 registry calls whose upstream stopped in the middle had no end. A live read whose connection had
    // died brought no event for 290 s.
    it.each([
      ['a body', BEGUN, 100],
      ['an event stream', EVENTS, 9_000],
    ])('breaks %s off of which nothing more comes', async (_, answer, longestMs) => {
      const { outcome } = await begin(answer);
      checkAt(0, longestMs - 1);
      expect(connection.attempt).toBeDefined();
      checkAt(longestMs);
      expect(await outcome).toEqual(new BodyStalled(longestMs));
    });

    it.each([
      ['may be silent', EVENTS, () => undefined],
      ['is paused for its reader', BEGUN, () => connection.pause()],
    ])('leaves one alone that %s', async (_, answer, prepare) => {
      const { outcome } = await begin(answer);
      prepare();
      checkAt(0, 8_999);
      connection.resume();
      upstream?.sockets[0]?.write('lo you');
      expect(await outcome).toBeUndefined();
    });

    it('begins to count again with each byte', async () => {
      const begun = await begin();
      checkAt(0, 99);
      let pieces = 0;
      connection.attempt!.owner.onChunk = () => void pieces++;
      upstream?.sockets[0]?.write('l');
      await until('the piece has come', () => pieces === 1);
      checkAt(100, 199);
      upstream?.sockets[0]?.write('o you');
      expect(await begun.outcome).toBeUndefined();
    });

    it('leaves one alone whose answer has not begun', async () => {
      const { outcome } = await begin('');
      await upstream?.asked.promise;
      checkAt(0, 10_000);
      upstream?.sockets[0]?.write(HELLO);
      expect(await outcome).toBeUndefined();
    });

    it('gives up a connection that does not open in time', async () => {
      connectTo(new URL('http://store.test'), (onread) => new Socket({ onread }));
      const outcome = read();
      checkAt(999, 1_000);
      expect((await outcome).error).toBeInstanceOf(ConnectTimeout);
    });
  });

  // All traffic went to an old address of the name for as long as it did not end.
  describe('that has become old', () => {
    beforeEach(fakeTime);
    afterEach(() => void jest.useRealTimers());

    it('is kept until it is 60 s old, and not after that', async () => {
      await connectToUpstream(HELLO);
      await read();
      const opened = { atMs: connection.provenAtMs };
      expect(connection.usableUntilMs).toBe(opened.atMs + 60_000);
      await pass(59_000);
      await read();
      expect(connection.provenAtMs).toBe(opened.atMs + 59_000);
      expect(connection.usableUntilMs).toBe(opened.atMs + 60_000);
      await pass(2_000);
      await read();
      expect(connection.usableUntilMs).toBeLessThan(performance.now());
    });
  });

  describe('by TLS', () => {
    const authorities = getCACertificates('default');
    let resumed: boolean[];
    let url: URL;

    beforeEach(async () => {
      resumed = [];
      const server = createTlsServer(TLS_IDENTITY, (socket: TLSSocket) => {
        resumed.push(socket.isSessionReused());
      });
      upstream = new Upstream(server, 'secureConnection', HELLO);
      url = await upstream.url('https:');
    });
    afterEach(() => setDefaultCACertificates(authorities));

    it('reads from a server that can prove who it is, the second time more quickly', async () => {
      setDefaultCACertificates([TLS_IDENTITY.cert]);
      const connect = connectorTo(url, ADDRESSES);
      for (let time = 0; time < 2; time++) {
        connectTo(url, connect);
        expect(await read()).toMatchObject({ status: 200, body: 'hello' });
        expect(await read()).toMatchObject({ status: 200, body: 'hello' });
        connection.discard();
      }
      expect(resumed).toEqual([false, true]);
    });

    // 49,088 of 100,000 bytes ended as if they were whole: anybody on the way can end a connection.
    it('does not take the end of a connection for the end of a body', async () => {
      setDefaultCACertificates([TLS_IDENTITY.cert]);
      upstream!.answer = 'HTTP/1.1 200 OK\r\n\r\nhello';
      upstream!.closesBehindAnswer = true;
      connectTo(url);
      const { error, reached } = await read();
      expect([String(error), reached]).toEqual([expect.stringContaining('a cut'), 'answered']);
    });

    it('sends nothing to a server that cannot', async () => {
      connectTo(url);
      const { error, reached } = await read();
      expect([(error as NodeJS.ErrnoException).code, reached]).toEqual([
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'nowhere',
      ]);
      expect(upstream?.requests).toBe('');
    });
  });
});
