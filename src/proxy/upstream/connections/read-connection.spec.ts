import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer, Socket, type AddressInfo, type Server } from 'node:net';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls';
import { TLS_IDENTITY } from '../../../../test/support/tls-identity.ts';
import type { HeaderList } from '../../../platform/http/header-list.ts';
import type { Reached } from '../send-again.ts';
import { ConnectTimeout } from './connection-errors.ts';
import { ReadConnection } from './read-connection.ts';
import { connectorTo } from './upstream-socket.ts';
import { NameResolver } from '../../../platform/names/name-resolver.ts';

const { lookup } = new NameResolver(2_000);
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

/** One end of what is tested: sends what the test says. */
class Upstream {
  readonly sockets: Socket[] = [];
  requests = '';
  closesBehindAnswer = false;
  answer: string;
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
        if (!bytes.includes('\r\n\r\n')) return;
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

function read(
  connection: ReadConnection,
  target = '/x',
  method: 'GET' | 'HEAD' = 'GET',
): Promise<Outcome> {
  const outcome: Outcome = { status: undefined, headers: [], body: '' };
  return new Promise((resolve) => {
    connection.send(method, target, ['host', 'store.test', 'x-latin1', '\xe4'], {
      mayBeSilent: false,
      onHead: (status, headers) => Object.assign(outcome, { status, headers }),
      onChunk: (chunk) => {
        outcome.body += chunk.toString('latin1');
      },
      onEnd: () => resolve(outcome),
      onError: (error, reached) => resolve({ ...outcome, error, reached }),
    });
  });
}

describe('ReadConnection', () => {
  let upstream: Upstream | undefined;
  let connection: ReadConnection;
  let lost: Promise<void>;

  afterEach(() => {
    connection.discard();
    upstream?.close();
  });

  function connectTo(url: URL, connect = connectorTo(url, lookup)): ReadConnection {
    const { promise, resolve } = Promise.withResolvers<void>();
    lost = promise;
    connection = new ReadConnection({
      connect,
      openedAtMs: 0,
      onSettled: () => undefined,
      onLost: () => resolve(),
    });
    return connection;
  }

  async function connectToUpstream(answer: string): Promise<Upstream> {
    upstream = new Upstream(createServer(), 'connection', answer);
    connectTo(await upstream.url('http:'));
    return upstream;
  }

  it('sends one request after the other, and the bytes of headers as they are', async () => {
    const { sockets } = await connectToUpstream(HELLO);
    for (const target of ['/a', '/b?c']) {
      expect(await read(connection, target)).toEqual({
        status: 200,
        headers: ['Content-Length', '5'],
        body: 'hello',
      });
    }
    const rest = 'HTTP/1.1\r\nhost: store.test\r\nx-latin1: \xe4\r\nconnection: keep-alive\r\n\r\n';
    expect(upstream?.requests).toBe(`GET /a ${rest}GET /b?c ${rest}`);
    expect(sockets).toHaveLength(1);
  });

  it.each(['/x HTTP/1.1\r\n\r\nGET /y', '/x\n', '/x\0', '/x\u010a'])(
    'sends nothing of %j',
    async (target) => {
      await connectToUpstream(HELLO);
      expect(await read(connection, target)).toMatchObject({ reached: 'nowhere' });
      await read(connection);
      expect(upstream?.requests).toMatch(/^GET \/x HTTP\/1\.1\r\nhost/);
    },
  );

  it.each([
    ['', 60_000],
    ['Keep-Alive: timeout=5\r\n', 3_000],
    ['keep-alive: max=9, Timeout=30\r\n', 28_000],
    ['Keep-Alive: timeout=600\r\n', 60_000],
  ])('is kept for as long as the upstream keeps it (%j)', async (header, keptMs) => {
    await connectToUpstream(HELLO.replace('\r\n', `\r\n${header}`));
    const beganMs = performance.now();
    await read(connection);
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
    expect(await read(connection)).toMatchObject({ status: 200, body: 'hello' });
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
    expect(await read(connection, '/x', method)).toMatchObject({ body: '' });
    expect(connection.usableUntilMs).toBe(0);
  });

  it('is lost when something comes that nobody asked for', async () => {
    const { sockets } = await connectToUpstream(HELLO);
    await read(connection);
    sockets[0]?.write(HELLO);
    await lost;
  });

  it('is lost when the upstream closes it', async () => {
    const { sockets } = await connectToUpstream(HELLO);
    await read(connection);
    sockets[0]?.end();
    await lost;
  });

  it.each([
    ['', 'sent'],
    ['HTTP/1.1 2', 'answered'],
    [HELLO.slice(0, -1), 'answered'],
  ])('tells what the upstream had answered when it closed (%j)', async (begun, reached) => {
    (await connectToUpstream(begun)).closesBehindAnswer = true;
    expect(await read(connection)).toMatchObject({ error: expect.anything(), reached });
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
      void read(connection);
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
    await new Promise<void>((resolve, reject) => {
      connection.send('GET', '/x', [], {
        mayBeSilent: false,
        onHead: () => undefined,
        onChunk: (chunk) => {
          bytes += chunk.length;
          const atPause = bytes;
          connection.pause();
          pauses++;
          setImmediate(() => {
            expect(bytes).toBe(atPause);
            connection.resume();
          });
        },
        onEnd: resolve,
        onError: reject,
      });
    });
    expect(bytes).toBe(size);
    expect(pauses).toBeGreaterThan(10);
  });

  describe('checked now and then', () => {
    const TIMEOUTS = { connectMs: 1_000, stallMs: 100 };
    const BEGUN = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel';

    /** Resolves once the beginning of the body is there; the outcome is that of the whole. */
    async function begin(isSilent: boolean, answer = BEGUN) {
      await connectToUpstream(answer);
      const begun = Promise.withResolvers<void>();
      const outcome = new Promise<Error | undefined>((resolve) => {
        connection.send('GET', '/x', [], {
          mayBeSilent: isSilent,
          onHead: () => undefined,
          onChunk: () => begun.resolve(),
          onEnd: () => resolve(undefined),
          onError: resolve,
        });
      });
      if (answer !== '') await begun.promise;
      return { outcome };
    }

    // 100 reads and 50 registry calls whose upstream stopped in the middle had no end.
    it('breaks a body off of which nothing more comes', async () => {
      const { outcome } = await begin(false);
      connection.checkTimeouts(0, TIMEOUTS);
      connection.checkTimeouts(99, TIMEOUTS);
      connection.checkTimeouts(101, TIMEOUTS);
      expect(String(await outcome)).toContain('no byte');
    });

    it.each([
      ['may be silent', true, BEGUN, () => undefined],
      ['is paused for its reader', false, BEGUN, () => connection.pause()],
    ])('leaves one alone that %s', async (_, isSilent, answer, prepare) => {
      const { outcome } = await begin(isSilent, answer);
      prepare();
      connection.checkTimeouts(0, TIMEOUTS);
      connection.checkTimeouts(10_000, TIMEOUTS);
      connection.resume();
      upstream?.sockets[0]?.write('lo you');
      expect(await outcome).toBeUndefined();
    });

    it('leaves one alone whose answer has not begun', async () => {
      const { outcome } = await begin(false, '');
      await upstream?.asked.promise;
      connection.checkTimeouts(0, TIMEOUTS);
      connection.checkTimeouts(10_000, TIMEOUTS);
      upstream?.sockets[0]?.write(HELLO);
      expect(await outcome).toBeUndefined();
    });

    it('gives up a connection that does not open in time', async () => {
      connectTo(new URL('http://store.test'), (onread) => new Socket({ onread }));
      const outcome = read(connection);
      connection.checkTimeouts(999, TIMEOUTS);
      connection.checkTimeouts(1_000, TIMEOUTS);
      expect((await outcome).error).toBeInstanceOf(ConnectTimeout);
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
      const connect = connectorTo(url, lookup);
      for (let time = 0; time < 2; time++) {
        connectTo(url, connect);
        expect(await read(connection)).toMatchObject({ status: 200, body: 'hello' });
        expect(await read(connection)).toMatchObject({ status: 200, body: 'hello' });
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
      const { error, reached } = await read(connection);
      expect([String(error), reached]).toEqual([expect.stringContaining('a cut'), 'answered']);
    });

    it('sends nothing to a server that cannot', async () => {
      connectTo(url);
      const { error, reached } = await read(connection);
      expect([(error as NodeJS.ErrnoException).code, reached]).toEqual([
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'nowhere',
      ]);
      expect(upstream?.requests).toBe('');
    });
  });
});
