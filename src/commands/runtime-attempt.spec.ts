import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Pool, type Dispatcher } from 'undici';
import { standStill } from '../../test/support/stand-still.ts';
import { listening, type Listening } from '../../test/support/listening.ts';
import {
  FailedAttempt,
  isCut,
  startAttempt,
  type RunningAttempt,
  type RuntimeAnswer,
} from './runtime-attempt.ts';
import { awakeMs } from '../platform/clock/awake-clock.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';

const OPTIONS = { method: 'POST', path: '/x', body: 'body' } as const;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const TIMEOUT_MS = 5_000;
const held = new HeldBytes(1_000_000);
afterEach(() => expect(held.total).toBe(0));

describe('startAttempt', () => {
  let onData: (socket: Socket) => void;
  let requests: number;
  let sockets: Socket[];
  let server: Listening;
  let pool: Pool;

  beforeEach(async () => {
    requests = 0;
    sockets = [];
    onData = (socket) => socket.write(OK);
    const taking = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('POST ')) requests += 1;
        onData(socket);
      });
    });
    server = await listening(taking);
    pool = new Pool(server.url);
  });

  afterEach(async () => {
    await pool.destroy();
    await server.stop();
  });

  const attempt = (timeoutMs = TIMEOUT_MS): Promise<RuntimeAnswer> =>
    startAttempt(pool, OPTIONS, timeoutMs, held).answer;

  it('resolves with the whole answer', async () => {
    expect(await attempt()).toEqual({
      status: 200,
      headers: { 'content-length': '2' },
      text: 'ok',
    });
  });

  it('tells a connection that could not be made from one that was lost', async () => {
    const nobody = new Pool('http://127.0.0.1:1');
    expect(await failure(startAttempt(nobody, OPTIONS, TIMEOUT_MS, held).answer)).toEqual([
      'nowhere',
      false,
    ]);
    await nobody.destroy();

    onData = (socket) => socket.resetAndDestroy();
    expect(await failure(attempt())).toEqual(['sent', false]);
    onData = (socket) => socket.end('H');
    expect(await failure(attempt())).toEqual(['answered', false]);
  });

  // A command that met the reset of an idle connection was taken for one that may have been sent.
  it('tells that nothing was sent when the kept connection is reset before the first byte', async () => {
    await attempt();
    await new Promise(setImmediate);
    sockets[0]?.resetAndDestroy();
    expect(await failure(attempt())).toEqual(['nowhere', false]);
    expect(requests).toBe(1);
    expect((await attempt()).text).toBe('ok');
  });

  it('sends over a new connection when the kept one is ended before the first byte', async () => {
    await attempt();
    await new Promise(setImmediate);
    sockets[0]?.end();
    expect((await attempt()).text).toBe('ok');
    expect([requests, sockets.length]).toEqual([2, 2]);
  });

  it.each([
    ['sent', ''],
    ['answered', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no'],
  ])('that times out when it was %s closes its connection', async (reached, bytes) => {
    const closed = Promise.withResolvers<void>();
    onData = (socket) => {
      socket.once('close', () => closed.resolve());
      socket.write(bytes);
    };
    // Long enough for a busy machine to bring the bytes.
    expect(await failure(attempt(1_500))).toEqual([reached, true]);
    await closed.promise;

    onData = (socket) => socket.write(OK);
    expect((await attempt()).text).toBe('ok');
  });

  it('that is canceled closes its connection, and leaves an answered one open', async () => {
    const closed = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    onData = (socket) => {
      socket.once('close', () => closed.resolve());
      arrived.resolve();
    };
    const canceled = startAttempt(pool, OPTIONS, TIMEOUT_MS, held);
    await arrived.promise;
    canceled.cancel();
    expect(await failure(canceled.answer)).toEqual(['sent', false]);
    await closed.promise;

    onData = (socket) => socket.write(OK);
    const answered = startAttempt(pool, OPTIONS, TIMEOUT_MS, held);
    expect((await answered.answer).text).toBe('ok');
    answered.cancel();
    await new Promise(setImmediate);
    expect((await attempt()).text).toBe('ok');
    expect(sockets.length).toBe(2);
  });

  it.each<[string, string, boolean]>([
    ['cut in its head', 'HTTP/1.1 200 OK\r\nConte', true],
    ['cut in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no', true],
    ['no HTTP', 'no HTTP at all\r\n\r\n', false],
  ])('tells whether an answer that is %s was cut', async (_, bytes, wasCut) => {
    onData = (socket) => socket.end(bytes);
    const error: unknown = await attempt().catch((thrown: unknown) => thrown);
    expect(isCut(error as FailedAttempt)).toBe(wasCut);
  });

  // Its time was over before its answer was read.
  it('takes an answer that came while the process stood still', async () => {
    onData = (socket) => {
      socket.write(OK);
      standStill(1_500);
    };
    expect((await attempt(1_000)).text).toBe('ok');
  });

  it('fails at once when the pool is gone', async () => {
    await pool.destroy();
    expect(await failure(attempt())).toEqual(['nowhere', false]);
  });
});

describe('an attempt that is over', () => {
  let handler: Dispatcher.DispatchHandler;
  let running: RunningAttempt;
  let aborted: Error[];
  let controller: Dispatcher.DispatchController;

  beforeEach(() => {
    jest.useFakeTimers();
    const dispatcher = {
      dispatch: (_: unknown, dispatched: Dispatcher.DispatchHandler) => void (handler = dispatched),
    };
    running = startAttempt(dispatcher as unknown as Dispatcher, OPTIONS, TIMEOUT_MS, held);
    running.answer.catch(() => undefined);
    aborted = [];
    controller = {
      abort: (reason: Error) => aborted.push(reason),
    } as unknown as Dispatcher.DispatchController;
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  /** In steps, because a longer one is a pause of the process. */
  function letTimePass(): void {
    for (let ms = 0; ms <= TIMEOUT_MS; ms += 100) {
      jest.advanceTimersByTime(100);
      awakeMs();
    }
  }

  // The command would have run although its client had been told that it had not.
  it('before its connection has opened sends nothing on it', async () => {
    running.cancel();
    expect(await failure(running.answer)).toEqual(['nowhere', false]);
    handler.onRequestStart?.(controller, {});
    expect(aborted).toHaveLength(1);
  });

  it('by its time sends nothing either', async () => {
    letTimePass();
    expect(await failure(running.answer)).toEqual(['nowhere', true]);
    handler.onRequestStart?.(controller, {});
    expect(aborted).toHaveLength(1);
  });

  it('is not sent again by undici itself', async () => {
    handler.onRequestStart?.(controller, {});
    expect(aborted).toHaveLength(0);
    handler.onRequestStart?.(controller, {});
    expect(aborted).toHaveLength(1);
    handler.onResponseError?.(controller, new Error('aborted'));
    expect(await failure(running.answer)).toEqual(['sent', false]);
  });

  // Each could bring 64 KiB and stop, and there are thousands of commands.
  it.each(['its answer', 'its time'])('held the bytes of its answer until %s', async (end) => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 202, {});
    handler.onResponseData?.(controller, Buffer.alloc(60_000));
    expect(held.of('answers')).toBeGreaterThanOrEqual(60_000);
    if (end === 'its answer') handler.onResponseEnd?.(controller, {});
    else letTimePass();
    expect(held.total).toBe(0);
    handler.onResponseData?.(controller, Buffer.alloc(1));
    await running.answer.catch(() => undefined);
  });

  it('by its answer leaves its connection alone, whatever comes later', async () => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 202, {});
    handler.onResponseEnd?.(controller, {});
    running.cancel();
    handler.onResponseError?.(controller, new Error('closed'));
    letTimePass();
    expect(await running.answer).toEqual({ status: 202, headers: {}, text: '' });
    expect(aborted).toHaveLength(0);
  });

  it('by its failure has no answer any more', async () => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseError?.(controller, new Error('closed'));
    handler.onResponseEnd?.(controller, {});
    running.cancel();
    expect(await failure(running.answer)).toEqual(['sent', false]);
    expect(aborted).toHaveLength(0);
  });
});

it('takes no failure for a cut answer that came before any of it, or has no code', () => {
  const cut = Object.assign(new Error(), { code: 'ECONNRESET' });
  expect(isCut(new FailedAttempt('answered', false, cut))).toBe(true);
  expect(isCut(new FailedAttempt('sent', false, cut))).toBe(false);
  expect(isCut(new FailedAttempt('answered', false, undefined))).toBe(false);
});

async function failure(answer: Promise<RuntimeAnswer>): Promise<[string, boolean]> {
  const error: unknown = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FailedAttempt)) throw new Error('it did not fail');
  return [error.reached, error.isTimeout];
}
