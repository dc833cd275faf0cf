import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { listening } from '../../../../test/support/listening.ts';
import { fakeTime, pass } from '../../../../test/support/fake-time.ts';
import { awaited, until } from '../../../../test/support/until.ts';
import { ConnectTimeout } from './connection-errors.ts';
import {
  ConnectionPool,
  MAX_OPENING_CONNECTIONS,
  type ConnectionTaker,
  type PoolOptions,
} from './connection-pool.ts';
import type { UpstreamConnection } from './connection.ts';
import type { Connector } from './connector.ts';

const CONNECT_MS = 2_000;

/** As many requests are answered together. */
let answeredTogether = 1;
const held: ServerResponse[] = [];
const answeredOn: Socket[] = [];
const server = createServer(({ socket }, response) => {
  answeredOn.push(socket);
  if (held.push(response) < answeredTogether) return;
  for (const each of held.splice(0)) each.end('here');
});

/** A network on which a connection comes about when the test says so. */
class HeldNetwork {
  /** Lets everybody in at once. */
  letsIn = false;
  readonly knocks: { socket: Socket; besides: string | undefined; letIn: () => void }[] = [];
  private readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  readonly connector: Connector = (onread, onOpen, besides) => {
    const socket = new Socket({ onread });
    const letIn = (): void => void socket.connect(this.port, '127.0.0.1', onOpen);
    this.knocks.push({ socket, besides, letIn });
    if (this.letsIn) letIn();
    return socket;
  };
}

class Read implements ConnectionTaker {
  isOver = false;
  connection: UpstreamConnection | undefined;
  /** A status, or the error. */
  isUnproven = false;
  readonly answered: Promise<number | Error>;
  private readonly pool: ConnectionPool;
  private readonly resolve: (outcome: number | Error) => void;

  constructor(pool: ConnectionPool, maxIdleMs?: number) {
    this.pool = pool;
    ({ promise: this.answered, resolve: this.resolve } = Promise.withResolvers());
    pool.take(this, maxIdleMs);
  }

  send(connection: UpstreamConnection): void {
    this.connection = connection;
    let status = 0;
    const request = { method: 'GET', target: '/', headers: ['host', 'store.test'] };
    const owner = {
      onHead: (_: unknown, statusCode: number) => {
        status = statusCode;
      },
      onChunk: () => undefined,
      onEnd: () => {
        this.isOver = true;
        this.pool.giveBack(connection);
        this.resolve(status);
      },
      onError: (_: unknown, error: Error) => this.onError(error),
      onBodySent: () => undefined,
      onUnproven: () => void (this.isUnproven = true),
    };
    connection.send(request, { owner });
  }

  onError(error: Error): void {
    this.isOver = true;
    if (this.connection) this.pool.drop(this.connection);
    this.resolve(error);
  }
}

describe('ConnectionPool', () => {
  let port: number;
  let stop: () => Promise<void>;
  let network: HeldNetwork;
  let pool: ConnectionPool;
  /** For each connection that opened or could not: why not. */
  let told: (Error | undefined)[];
  let nowMs: number;

  beforeAll(async () => {
    // Longer than anything takes here: Node would close idle connections after five seconds.
    server.keepAliveTimeout = 75_000;
    ({ port, stop } = await listening(server));
  });
  afterAll(() => stop());
  beforeEach(() => {
    network = new HeldNetwork(port);
    nowMs = 0;
    told = [];
    pool = newPool();
  });
  afterEach(() => {
    pool.close();
    answeredTogether = 1;
    held.length = 0;
  });

  function newPool(options: Partial<PoolOptions> = {}): ConnectionPool {
    return new ConnectionPool({
      connect: network.connector,
      timeouts: { connectMs: CONNECT_MS, stallMs: 60_000, silenceMs: 60_000 },
      isTls: false,
      keepsConnections: true,
      isPatient: true,
      onConnect: (failure) => void told.push(failure),
      nowMs: () => nowMs,
      ...options,
    });
  }

  // The next read would get what belongs to nobody as its answer.
  it.each<[string, (socket: Socket | undefined) => void]>([
    ['was closed', (socket) => socket?.end()],
    ['was reset', (socket) => socket?.resetAndDestroy()],
    ['has brought what nobody asked for', (socket) => socket?.write('HTTP/1.1 200 OK\r\n\r\n')],
  ])('takes no kept connection that %s', async (_, leave) => {
    network.letsIn = true;
    await new Read(pool).answered;
    const closed = new Promise((resolve) => network.knocks[0]?.socket.once('close', resolve));
    leave(answeredOn.at(-1));
    await awaited('the connection is closed here', closed);
    expect(await awaited('the second answer', new Read(pool).answered)).toBe(200);
    expect(network.knocks).toHaveLength(2);
  });

  function reads(count: number): Read[] {
    return Array.from({ length: count }, () => new Read(pool));
  }

  it('opens so many connections at once and no more, and the others as those are there', async () => {
    const all = reads(2 * MAX_OPENING_CONNECTIONS);
    expect(network.knocks).toHaveLength(MAX_OPENING_CONNECTIONS);
    for (const { letIn } of network.knocks) letIn();
    // Those that were answered serve the others too, so not every one of these has to open.
    await Promise.all(all.slice(0, MAX_OPENING_CONNECTIONS).map(({ answered }) => answered));
    for (const { letIn } of network.knocks.slice(MAX_OPENING_CONNECTIONS)) letIn();
    const outcomes = await Promise.all(all.map(({ answered }) => answered));
    expect(new Set(outcomes)).toEqual(new Set([200]));
  });

  it('gives who waits the connection of one that was answered', async () => {
    const [first, ...others] = reads(MAX_OPENING_CONNECTIONS + 2);
    network.knocks[0]?.letIn();
    expect(await first?.answered).toBe(200);
    expect(await others.at(-1)?.answered).toBe(200);
    expect(others.at(-1)?.connection).toBe(first?.connection);
    // One for who came before it.
    expect(network.knocks).toHaveLength(MAX_OPENING_CONNECTIONS + 1);
  });

  it('passes over who does not wait any more', async () => {
    const all = reads(MAX_OPENING_CONNECTIONS + 2);
    const [gone, last] = all.slice(-2) as [Read, Read];
    gone.isOver = true;
    network.knocks[0]?.letIn();
    expect(await all[0]?.answered).toBe(200);
    network.knocks.at(-1)?.letIn();
    expect(await last.answered).toBe(200);
    expect(gone.connection).toBeUndefined();
  });

  it('gives up all who wait once no connection has come about for as long as one may take', async () => {
    const all = reads(MAX_OPENING_CONNECTIONS + 10);
    nowMs = CONNECT_MS;
    const outcomes = await Promise.all(all.map(({ answered }) => answered));
    expect(outcomes.every((outcome) => outcome instanceof ConnectTimeout)).toBe(true);
  });

  // 3,000 of 6,000 reads got 502 before a healthy store that took them in one by one.
  it('lets reads wait for longer than that while connections come about', async () => {
    const all = reads(MAX_OPENING_CONNECTIONS + 10);
    const last = all.at(-1) as Read;
    for (let served = 0; served < 5; served++) {
      nowMs += CONNECT_MS - 1;
      network.knocks.at(served)?.letIn();
      expect(await all[served]?.answered).toBe(200);
      // Those that were being opened for all of that time are given up by themselves.
      if (served === 1) break;
    }
    network.letsIn = true;
    for (const { letIn } of network.knocks.slice(2)) letIn();
    expect(await last.answered).toBe(200);
  });

  // At most 1,024 were kept: each event that 9,000 readers waited for closed and opened the others.
  it('keeps as many connections as were busy at once', async () => {
    network.letsIn = true;
    const count = 1_500;
    answeredTogether = count;
    for (let wave = 0; wave < 3; wave++) {
      const all = Array.from({ length: count }, () => new Read(pool));
      await Promise.all(all.map(({ answered }) => answered));
    }
    expect(network.knocks).toHaveLength(count);
  });

  it('continues with those who wait when connections fail', async () => {
    const all = reads(MAX_OPENING_CONNECTIONS + 1);
    network.knocks[0]?.socket.destroy(new Error('refused'));
    expect(await all[0]?.answered).toEqual(new Error('refused'));
    expect(network.knocks).toHaveLength(MAX_OPENING_CONNECTIONS + 1);
    network.knocks.at(-1)?.letIn();
    expect(await all.at(-1)?.answered).toBe(200);
  });

  it('serves all who wait where the upstream closes a connection after each answer', async () => {
    const close = (_: unknown, response: ServerResponse): unknown =>
      response.setHeader('Connection', 'close');
    server.prependListener('request', close);
    network.letsIn = true;
    const all = reads(3 * MAX_OPENING_CONNECTIONS);
    const outcomes = await Promise.all(all.map(({ answered }) => answered));
    server.off('request', close);
    expect(new Set(outcomes)).toEqual(new Set([200]));
  });

  it('closes a connection that has been idle for too long, and gives it to nobody', async () => {
    network.letsIn = true;
    for (const isTaken of [true, false]) {
      const [first] = reads(1) as [Read];
      await first.answered;
      const connection = first.connection as UpstreamConnection;
      connection.usableUntilMs = 1;
      const closed = once(network.knocks.at(-1)?.socket as Socket, 'close');
      if (isTaken) {
        const [second] = reads(1) as [Read];
        expect(second.connection).not.toBe(connection);
        await second.answered;
        pool.drop(second.connection as UpstreamConnection);
      }
      await closed;
    }
  });

  it('opens no connection any more once it is closed', async () => {
    reads(MAX_OPENING_CONNECTIONS + 1);
    const settled = network.knocks.map(({ socket }) => once(socket, 'close'));
    pool.close();
    await Promise.all(settled);
    expect(network.knocks).toHaveLength(MAX_OPENING_CONNECTIONS);
  });

  // The kernel continues for two minutes where nothing answers.
  it('knocks no more for a read that is given up', () => {
    const [read] = reads(1);
    if (read?.connection) pool.drop(read.connection);
    expect(network.knocks[0]?.socket.destroyed).toBe(true);
  });

  it('opens half as many connections at once by TLS', () => {
    pool = newPool({ isTls: true });
    reads(MAX_OPENING_CONNECTIONS);
    expect(network.knocks).toHaveLength(MAX_OPENING_CONNECTIONS / 2);
  });

  it('uses no connection twice where the upstream is to have a new one each time', async () => {
    network.letsIn = true;
    pool = newPool({ keepsConnections: false });
    for (let time = 0; time < 2; time++) expect(await new Read(pool).answered).toBe(200);
    expect(network.knocks).toHaveLength(2);
  });

  it('tells of each connection that opens, and why one does not, and nothing of one that is given up', async () => {
    const [, refused, given] = reads(3);
    network.knocks[0]?.letIn();
    const error = new Error('refused');
    network.knocks[1]?.socket.destroy(error);
    expect(await refused?.answered).toBe(error);
    const closed = once(network.knocks[2]?.socket as Socket, 'close');
    if (given?.connection) pool.drop(given.connection);
    await closed;
    await until('the first is open', () => told.includes(undefined));
    expect(told).toHaveLength(2);
    expect(told).toContain(error);
  });

  describe('asked whether another attempt to connect makes sense', () => {
    it('says so for as long as connections have opened lately', async () => {
      expect(pool.isWorthWaiting).toBe(false);
      network.letsIn = true;
      await new Read(pool).answered;
      nowMs = 2 * CONNECT_MS - 1;
      expect(pool.isWorthWaiting).toBe(true);
      nowMs++;
      expect(pool.isWorthWaiting).toBe(false);
    });

    it('never says so where nobody may wait', async () => {
      pool = newPool({ isPatient: false });
      network.letsIn = true;
      await new Read(pool).answered;
      expect(pool.isWorthWaiting).toBe(false);
    });
  });

  describe('with kept connections that may have died silently', () => {
    beforeEach(fakeTime);
    afterEach(() => void jest.useRealTimers());

    /** Requests of so many connections that are all kept. */
    async function keep(count: number): Promise<UpstreamConnection[]> {
      network.letsIn = true;
      answeredTogether = count;
      const kept = reads(count);
      await Promise.all(kept.map(({ answered }) => answered));
      answeredTogether = 1;
      return kept.map(({ connection }) => connection as UpstreamConnection);
    }

    // An append that may not be repeated was lost on a connection that had died, and nobody could say so.
    it('gives a request one only if it answered lately enough, and leaves it to others', async () => {
      const [kept] = await keep(1);
      await pass(5_000);
      const lately = new Read(pool, 5_000);
      expect(lately.connection).toBe(kept);
      await lately.answered;
      await pass(5_001);
      const fresh = new Read(pool, 5_000);
      expect(fresh.connection).not.toBe(kept);
      const other = new Read(pool);
      expect(other.connection).toBe(kept);
      await Promise.all([fresh.answered, other.answered]);
    });

    it('closes those that have not answered since then, and tells of the busy ones', async () => {
      const kept = await keep(3);
      await pass(10);
      const sinceMs = performance.now();
      const proven = new Read(pool);
      await proven.answered;
      answeredTogether = 3;
      const onKept = reads(2);
      const [again, busy] = onKept.map(({ connection }) => connection);
      expect(again).toBe(proven.connection);
      const idle = kept.find((each) => each !== again && each !== busy);
      network.letsIn = false;
      const { connection: opening } = new Read(pool, Number.NEGATIVE_INFINITY);
      pool.endUnproven(sinceMs);
      expect(onKept.map(({ isUnproven }) => isUnproven)).toEqual([false, true]);
      expect([idle, busy, again, opening].map((each) => each?.socket.destroyed)).toEqual([
        true,
        false,
        false,
        false,
      ]);
    });
  });
});
