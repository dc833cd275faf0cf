import { beforeEach, describe, expect, it } from '@jest/globals';
import type { HeaderList } from '../../platform/http/header-list.ts';
import { RequestContext } from '../../platform/server/request-context.ts';
import { UpstreamCalls, type UpstreamCall } from '../../platform/telemetry/upstream-calls.ts';
import type { AnswerHandler } from '../upstream/connections/answer-handler.ts';
import { ConnectTimeout, ConnectionClosed } from '../upstream/connections/connection-errors.ts';
import type { ConnectionTaker } from '../upstream/connections/connection-line.ts';
import type { ReadConnection } from '../upstream/connections/read-connection.ts';
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import type { ReadCall } from './read-call.ts';
import type { ReadHead } from './read-head.ts';
import type { ReadSharing } from './read-sharing.ts';
import { UpstreamRead, type ReadObserver } from './upstream-read.ts';

/** A connection that notes what is done with it. */
class FakeConnection {
  hasServed = false;
  readonly socket = {};
  sent: unknown[] | undefined;
  done: string[] = [];
  handler: AnswerHandler | undefined;

  send(method: string, target: string, headers: HeaderList, handler: AnswerHandler): void {
    this.sent = [method, target, headers];
    this.handler = handler;
  }

  pause(): void {
    this.done.push('paused');
  }

  resume(): void {
    this.done.push('resumed');
  }
}

/** A pool that gives the next of the test's connections, each at once. */
class FakePool {
  isUpstreamThere = false;
  readonly next: FakeConnection[] = [];
  taken: string[] = [];

  take(read: ConnectionTaker): void {
    this.give('any', read);
  }

  takeFresh(read: ConnectionTaker): void {
    this.give('fresh', read);
  }

  giveBack(connection: FakeConnection): void {
    connection.done.push('given back');
  }

  drop(connection: FakeConnection): void {
    connection.done.push('dropped');
  }

  private give(kind: string, read: ConnectionTaker): void {
    this.taken.push(kind);
    const connection = this.next.shift();
    if (connection) read.send(connection as unknown as ReadConnection);
  }
}

describe('UpstreamRead', () => {
  let pool: FakePool;
  let connection: FakeConnection;
  let seen: unknown[];
  let observer: ReadObserver;
  let faults: unknown[];
  /** The end of each upstream request: its status and why it failed. */
  let calls: [status: number | undefined, failure: string | undefined][];
  let read: UpstreamRead;

  beforeEach(() => {
    pool = new FakePool();
    connection = new FakeConnection();
    pool.next.push(connection);
    [seen, faults, calls] = [[], [], []];
    observer = {
      onHead: ({ statusCode }: ReadHead) => seen.push(statusCode),
      onChunk: (chunk) => seen.push(chunk.toString()),
      onEnd: () => seen.push('end'),
      onFailure: ({ code }) => seen.push(code),
    };
    const upstreamCalls = new UpstreamCalls();
    upstreamCalls.observe({
      ended: ({ status, failure }: UpstreamCall) => calls.push([status, failure]),
    });
    const call = {
      upstream: {
        name: 'history',
        protocol: durableStreams,
        basePath: '',
        credentialSetting: 'GATEWAY_HISTORY_TOKEN',
        pool,
      },
      method: 'GET',
      target: '/t/x',
      headers: ['Accept', '*/*'],
      context: new RequestContext('r1', '/streams/t/x', ''),
    } as unknown as ReadCall;
    const sharing = {
      calls: upstreamCalls,
      logFault: (fault: unknown) => faults.push(fault),
    } as unknown as ReadSharing;
    read = new UpstreamRead(call, sharing, observer);
  });

  /** Starts it, on a connection that has served others or not. */
  function start({ onKept = false } = {}): void {
    connection.hasServed = onKept;
    read.start();
  }

  it('passes the response on, and its connection to others before its end is known', () => {
    observer.onEnd = () => seen.push([...connection.done]);
    start();
    expect(connection.sent).toEqual(['GET', '/t/x', ['Accept', '*/*']]);
    expect(read.socket).toBe(connection.socket);
    read.onHead(200, []);
    read.onChunk(Buffer.from('body'));
    read.onEnd();
    expect(seen).toEqual([200, 'body', ['given back']]);
    expect([read.isOver, read.socket, calls]).toEqual([true, undefined, [[200, undefined]]]);
  });

  it('may be silent within an event stream, and within nothing else', () => {
    start();
    expect(read.mayBeSilent).toBe(false);
    read.onHead(200, ['Content-Type', 'application/json']);
    expect(read.mayBeSilent).toBe(false);
    read.onHead(200, ['Content-Type', 'text/event-stream; charset=utf-8']);
    expect(read.mayBeSilent).toBe(true);
  });

  it('pauses its own response, and not that of the next read on its connection', () => {
    start();
    read.resume();
    read.pause();
    read.resume();
    read.resume();
    expect(connection.done).toEqual(['paused', 'resumed']);
    read.pause();
    read.onEnd();
    read.resume();
    read.pause();
    expect(connection.done).toEqual(['paused', 'resumed', 'paused', 'given back']);
  });

  it('closes its connection when nobody wants the response any more, once', () => {
    start();
    read.cancel();
    read.cancel();
    expect([connection.done, calls, seen]).toEqual([['dropped'], [[undefined, 'canceled']], []]);
  });

  it('leaves the connection of a complete response alone', () => {
    start();
    read.onHead(200, []);
    read.onEnd();
    read.cancel();
    expect([connection.done, calls]).toEqual([['given back'], [[200, undefined]]]);
  });

  describe('whose connection is lost', () => {
    const LOST = new ConnectionClosed();
    let second: FakeConnection;
    beforeEach(() => {
      second = new FakeConnection();
      pool.next.push(second);
    });

    it('is sent again on a new one, if it was kept and nothing had come', () => {
      start({ onKept: true });
      read.onError(LOST, 'sent');
      expect([connection.done, pool.taken]).toEqual([['dropped'], ['any', 'fresh']]);
      expect(second.sent).toEqual(connection.sent);
      read.onHead(200, []);
      read.onEnd();
      expect(seen).toEqual([200, 'end']);
      expect(calls).toEqual([
        [undefined, 'stale'],
        [200, undefined],
      ]);
    });

    it('is sent again once, although the second one looks kept', () => {
      second.hasServed = true;
      start({ onKept: true });
      read.onError(LOST, 'sent');
      read.onError(LOST, 'sent');
      expect([seen, pool.taken]).toEqual([['upstream_unreachable'], ['any', 'fresh']]);
      expect(calls.map(([, failure]) => failure)).toEqual(['stale', 'unreachable']);
    });

    it.each([
      ['was new', false, 'sent', 'upstream_unreachable', 'unreachable'],
      ['had begun to answer', true, 'answered', 'upstream_invalid_response', 'invalid_response'],
    ] as const)('fails if that %s', (_, onKept, reached, code, failure) => {
      start({ onKept });
      read.onError(LOST, reached);
      expect([seen, pool.taken, calls]).toEqual([[code], ['any'], [[undefined, failure]]]);
      expect([connection.done, read.isOver]).toEqual([['dropped'], true]);
    });

    it('fails in the middle of its body, and is counted as broken', () => {
      start({ onKept: true });
      read.onHead(200, []);
      read.onError(LOST, 'answered');
      expect([seen, calls]).toEqual([[200, 'upstream_invalid_response'], [[200, 'broken']]]);
    });
  });

  describe('whose connection does not open', () => {
    const LATE = new ConnectTimeout(2_000);

    it('waits for another one while the upstream accepts some', () => {
      const second = new FakeConnection();
      pool.next.push(second);
      pool.isUpstreamThere = true;
      start();
      read.onError(LATE, 'nowhere');
      expect([connection.done, pool.taken]).toEqual([['dropped'], ['any', 'fresh']]);
      read.onHead(204, []);
      read.onEnd();
      // It is one request, which was never sent before.
      expect([seen, calls]).toEqual([[204, 'end'], [[204, undefined]]]);
    });

    it.each([
      ['late, while the upstream accepts none', LATE, false],
      ['refused, whatever others get', new Error('ECONNREFUSED'), true],
    ])('fails if it is %s', (_, error, isUpstreamThere) => {
      pool.isUpstreamThere = isUpstreamThere;
      start();
      read.onError(error, 'nowhere');
      expect([seen, pool.taken]).toEqual([['upstream_unreachable'], ['any']]);
    });

    it('fails if it gets none', () => {
      pool.next.length = 0;
      start();
      read.onNoConnection(LATE);
      expect([seen, read.isOver]).toEqual([['upstream_unreachable'], true]);
      expect(calls).toEqual([[undefined, 'unreachable']]);
    });
  });

  it('keeps the answer to itself if that refuses the credential of the gateway', () => {
    start();
    read.onHead(401, []);
    expect([seen, connection.done]).toEqual([['upstream_invalid_response'], ['dropped']]);
    expect(calls).toEqual([[undefined, 'invalid_response']]);
  });

  // Thrown through the parser, they looked like a fault of the upstream.
  describe('whose observer throws', () => {
    const FAULT = new Error('a bug');
    const fail = (): never => {
      throw FAULT;
    };

    it.each([
      ['head', 'onHead', ['internal_error']],
      ['piece', 'onChunk', [200, 'internal_error']],
    ] as const)('fails at a %s, logs it, and closes its connection', (_, at, expected) => {
      observer[at] = fail;
      start();
      read.onHead(200, []);
      if (!read.isOver) read.onChunk(Buffer.from('x'));
      expect([seen, faults, connection.done]).toEqual([expected, [FAULT], ['dropped']]);
      expect(calls).toEqual([[200, 'other']]);
    });

    it('fails at the end, and leaves its connection to others', () => {
      observer.onEnd = fail;
      start();
      read.onHead(200, []);
      read.onEnd();
      expect([seen, faults]).toEqual([[200, 'internal_error'], [FAULT]]);
      expect([connection.done, calls]).toEqual([['given back'], [[200, undefined]]]);
    });
  });
});
