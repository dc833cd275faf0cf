import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { comes, pass, settled } from '../../../test/support/fake-time.ts';
import {
  HistoryExchanges,
  RESPONSE_MS,
  type SentExchange,
} from '../../../test/support/history-exchanges.ts';
import { BodyStalled } from './connections/connection-errors.ts';

const WHOLE = [200, 'ok', 'end'];
const APPEND = { method: 'POST', isRepeatable: false } as const;

describe('Exchange', () => {
  let history: HistoryExchanges;

  beforeEach(async () => {
    history = await HistoryExchanges.start();
  });
  afterEach(async () => {
    await history.stop();
  });
  const send: HistoryExchanges['send'] = (...request) => history.send(...request);

  it('passes the response on, and its connection to the next request before its end is known', async () => {
    let second: SentExchange | undefined;
    const first = send({}, { onEnd: () => void (second = send({ target: '/t/y' })) });
    const { socket } = first.exchange;
    const request = await history.store.nth(1);
    expect([request.method, request.target]).toEqual(['GET', '/t/x']);
    request.answer();
    (await history.store.nth(2)).answer();
    expect(await second?.over()).toEqual(WHOLE);
    expect(first.seen).toEqual([200, 'ok']);
    expect([history.store.accepted, socket?.remotePort]).toEqual([1, history.store.port]);
    expect([first.exchange.socket, second?.exchange.socket]).toEqual([undefined, undefined]);
    expect(history.calls).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
  });

  it('pauses its own response, and not that of the next request on its connection', async () => {
    const first = send();
    first.exchange.pause();
    (await history.store.nth(1)).answer();
    await settled();
    expect(first.seen).toEqual([]);
    first.exchange.resume();
    expect(await first.over()).toEqual(WHOLE);
    const second = send();
    first.exchange.pause();
    (await history.store.nth(2)).answer();
    expect(await second.over()).toEqual(WHOLE);
    expect(history.store.accepted).toBe(1);
  });

  it('closes its connection when nobody wants the response any more, once, and tells nothing', async () => {
    const { exchange, seen } = send();
    const request = await history.store.nth(1);
    exchange.cancel();
    exchange.cancel();
    await comes('the end of the connection', () => request.isClosed);
    expect([seen, history.calls]).toEqual([[], [[undefined, 'canceled']]]);
  });

  it('leaves the connection of a complete response alone', async () => {
    const first = send();
    (await history.store.nth(1)).answer();
    await first.over();
    first.exchange.cancel();
    const second = send();
    (await history.store.nth(2)).answer();
    expect(await second.over()).toEqual(WHOLE);
    expect(history.store.accepted).toBe(1);
  });

  it('keeps the answer to itself if that refuses the credential of the gateway', async () => {
    const sent = send();
    const request = await history.store.nth(1);
    request.answer('', '401 No');
    await comes('the end of the connection', () => request.isClosed);
    expect(sent.failure).toMatchObject({ reached: 'answered', isTimeout: false });
    expect([sent.seen, history.calls]).toEqual([
      ['upstream_invalid_response'],
      [[undefined, 'invalid_response']],
    ]);
  });

  it('gives it to a caller that judges by itself', async () => {
    const sent = send({ isJudged: false });
    (await history.store.nth(1)).answer('no', '401 No');
    expect(await sent.over()).toEqual([401, 'no', 'end']);
  });

  describe('whose kept connection is closed before its response', () => {
    const PUT = { method: 'PUT' };
    beforeEach(() => history.keep(1, PUT));
    const lose = async (number: number): Promise<void> =>
      void (await history.store.nth(number)).socket.resetAndDestroy();

    it('sends the request again on a new one', async () => {
      const sent = send({ ...PUT, body: { bytes: Buffer.from('all of it') } });
      await lose(2);
      const again = await history.store.nth(3);
      await comes('all of the body', () => again.body === 'all of it');
      expect(again.head).toBe(history.store.requests[1]?.head);
      again.answer();
      expect(await sent.over()).toEqual(WHOLE);
      expect(history.store.accepted).toBe(2);
      expect(history.calls).toEqual([
        [undefined, 'stale'],
        [200, undefined],
      ]);
    });

    it('sends it again once', async () => {
      const sent = send(PUT);
      await lose(2);
      await lose(3);
      expect(await sent.over()).toEqual(['upstream_unreachable']);
      expect(sent.failure).toMatchObject({ reached: 'sent', isTimeout: false });
      expect(history.calls.map(([, failure]) => failure)).toEqual(['stale', 'unreachable']);
    });

    it('says that it may have arrived, also if the second connection cannot be opened', async () => {
      const sent = send(PUT);
      const request = await history.store.nth(2);
      history.names.isSilent = true;
      request.socket.resetAndDestroy();
      await comes('the second attempt', () => history.calls.length === 1);
      await pass(2_250);
      expect(sent.failure).toMatchObject({ reached: 'sent' });
      expect(sent.failure?.error).toMatchObject({ isUnsent: false });
    });

    // It may have been made, and nothing would tell a repetition from it.
    it('sends nothing again that may not be repeated', async () => {
      const sent = send(APPEND);
      await lose(2);
      expect(history.store.accepted).toBe(1);
      await sent.over();
      expect(sent.failure?.error).toMatchObject({
        code: 'upstream_unreachable',
        message: expect.stringContaining('The append may have been made'),
      });
      expect(await history.targets()).toHaveLength(2);
    });
  });

  describe('whose connection is lost', () => {
    it.each([
      ['is new', '', ['upstream_unreachable'], 'sent', [undefined, 'unreachable']],
      [
        'has begun to answer',
        'HTTP/1.1 2',
        ['upstream_invalid_response'],
        'answered',
        [undefined, 'invalid_response'],
      ],
      [
        'is in the middle of a body',
        'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart',
        [200, 'part', 'upstream_invalid_response'],
        'answered',
        [200, 'broken'],
      ],
    ])('fails if that %s', async (_, begun, seen, reached, call) => {
      const sent = send();
      const request = await history.store.nth(1);
      request.write(begun);
      await settled();
      request.socket.resetAndDestroy();
      expect(await sent.over()).toEqual(seen);
      expect([sent.failure?.reached, history.calls]).toEqual([reached, [call]]);
      expect(await history.targets()).toHaveLength(1);
    });
  });

  it.each([
    ['text/event-stream; charset=utf-8', 90_000],
    ['application/json', 60_000],
  ])('whose body is %s breaks off after %i ms without a byte', async (type, ms) => {
    const sent = send();
    const request = await history.store.nth(1);
    request.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n\r\nx`);
    await comes('the first byte', () => sent.seen.length === 2);
    await pass(ms - 500);
    expect(sent.seen).toEqual([200, 'x']);
    await pass(1_000);
    expect(sent.seen).toEqual([200, 'x', 'upstream_invalid_response']);
    expect(sent.failure?.cause).toBeInstanceOf(BodyStalled);
    expect(history.calls).toEqual([[200, 'broken']]);
  });

  describe('whose connection does not open', () => {
    it('fails, says that nothing was sent, and has the name looked up again', async () => {
      await history.store.stop();
      const sent = send(APPEND);
      await sent.over();
      expect(sent.failure).toMatchObject({ reached: 'nowhere', isTimeout: false });
      expect(sent.failure?.error).toMatchObject({ code: 'upstream_unreachable', isUnsent: true });
      expect(history.names.failures).toBe(1);
    });

    it('fails after the time to connect, while the upstream accepts none', async () => {
      history.names.isSilent = true;
      const sent = send();
      await pass(1_900);
      expect(sent.seen).toEqual([]);
      await pass(400);
      expect(sent.seen).toEqual(['upstream_unreachable']);
      expect(sent.failure?.cause).toMatchObject({ code: 'ETIMEDOUT' });
    });

    /** A request whose connection does not open within 8 s, while one for another request opens every second. */
    async function sendIntoCrowd(request: Parameters<typeof send>[0]): Promise<SentExchange> {
      history.names.isSilent = true;
      const late = send(request);
      await settled();
      history.names.isSilent = false;
      for (let second = 0; second < 8 && !late.failure; second++) {
        const { exchange } = send({ ...request, isRepeatable: false });
        await pass(1_000);
        exchange.cancel();
      }
      return late;
    }

    // 3,000 of 6,000 reads got 502 before a healthy store that took them in one by one.
    it('waits for another one while the upstream accepts some, if it is a read', async () => {
      const late = await sendIntoCrowd({});
      await pass(250);
      const request = history.store.requests.at(-1);
      request?.answer();
      expect(await late.over()).toEqual(WHOLE);
      // It is one request, which was never sent before.
      expect(history.calls.filter(([, failure]) => failure !== 'canceled')).toEqual([
        [200, undefined],
      ]);
    });

    it('waits for no other one with a write', async () => {
      const late = await sendIntoCrowd(APPEND);
      expect(late.seen).toEqual(['upstream_unreachable']);
    });
  });

  // They can have died without a word, and nobody could tell what became of such a request.
  describe('that may not be repeated', () => {
    it.each([
      ['takes a kept connection that answered within 5 s', 4_999, 1],
      ['takes a new one else', 5_000, 2],
    ])('%s', async (_, ms, connections) => {
      await history.keep(1, APPEND);
      await pass(ms);
      const sent = send(APPEND);
      (await history.store.nth(2)).answer();
      expect(await sent.over()).toEqual(WHOLE);
      expect(history.store.accepted).toBe(connections);
    });
  });

  // A command that met the reset of an idle connection was taken for one that may have been sent.
  it.each([
    ['was reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['was ended', (socket: Socket) => void socket.end()],
  ])(
    'that may not be repeated takes no kept connection that %s in the turn in which it comes',
    async (_, leave) => {
      const [kept] = await history.keep(1, APPEND);
      if (kept) leave(kept);
      const sent = await new Promise<SentExchange>((resolve) => {
        setImmediate(() => resolve(send(APPEND)));
      });
      (await history.store.nth(2)).answer();
      expect(await sent.over()).toEqual(WHOLE);
      expect(history.store.accepted).toBe(2);
    },
  );

  it('that may not be repeated sends nothing if it is canceled in the turn in which it comes', async () => {
    send(APPEND).exchange.cancel();
    expect(await history.targets()).toEqual([]);
    expect([history.store.accepted, history.calls]).toEqual([0, [[undefined, 'canceled']]]);
  });

  describe('whose upstream is late', () => {
    it('fails when its time is over, and closes its connection', async () => {
      const sent = send(APPEND);
      const request = await history.store.nth(1);
      await pass(RESPONSE_MS - 100);
      expect(sent.seen).toEqual([]);
      await pass(300);
      expect(sent.seen).toEqual(['upstream_timeout']);
      expect(sent.failure).toMatchObject({ reached: 'sent', isTimeout: true });
      expect(sent.failure?.error.message).toContain('did not answer within 15000 ms');
      await comes('the end of the connection', () => request.isClosed);
      expect(history.calls).toEqual([[undefined, 'timeout']]);
      expect(await history.targets()).toHaveLength(1);
    });

    it('lets a body take longer, once its response has begun', async () => {
      const sent = send();
      const request = await history.store.nth(1);
      request.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nte');
      await comes('the first half', () => sent.seen.length === 2);
      await pass(2 * RESPONSE_MS);
      request.write('xt');
      expect(await sent.over()).toEqual([200, 'te', 'xt', 'end']);
    });

    it('gives no longer time to one that must be whole by then', async () => {
      const sent = send({ isTimedToEnd: true });
      const request = await history.store.nth(1);
      request.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nte');
      await comes('the first half', () => sent.seen.length === 2);
      await pass(RESPONSE_MS + 200);
      expect(sent.seen).toEqual([200, 'te', 'upstream_timeout']);
      expect(sent.failure).toMatchObject({ reached: 'answered', isTimeout: true });
    });

    // Its time was over before its answer was read.
    it('takes an answer that has arrived when its time is over', async () => {
      const sent = send(APPEND);
      const request = await history.store.nth(1);
      await pass(RESPONSE_MS - 100);
      // The response comes while the process stands still.
      request.answer();
      jest.advanceTimersByTime(300);
      expect(sent.seen).toEqual([]);
      expect(await sent.over()).toEqual(WHOLE);
    });
  });

  describe('with a streamed body', () => {
    const LENGTH = 8;
    let body: PassThrough;
    let sent: SentExchange;

    beforeEach(async () => {
      body = new PassThrough();
      sent = send({ ...APPEND, body: { stream: body, lengthBytes: LENGTH } });
      await history.store.nth(1);
    });

    /** So many bytes come from the client. */
    async function bring(text: string): Promise<void> {
      const request = await history.store.nth(1);
      const expected = request.body + text;
      body.write(text);
      await comes('a piece of the body', () => request.body === expected);
    }

    it('gives the client all the time that it takes, and the upstream its time from then on', async () => {
      for (const text of ['ab', 'cd', 'ef']) {
        await pass(2 * RESPONSE_MS);
        await bring(text);
      }
      await pass(RESPONSE_MS - 1_000);
      body.end('gh');
      await settled();
      await pass(RESPONSE_MS - 100);
      expect(sent.seen).toEqual([]);
      await pass(300);
      expect(sent.seen).toEqual(['upstream_timeout']);
      expect(sent.failure).toMatchObject({ reached: 'sent', isTimeout: true });
    });

    // The body had just been sent when the time ended that had begun before.
    it('begins the time of the upstream when the last bytes leave in the very turn of a check', async () => {
      await pass(RESPONSE_MS - 100);
      body.end('abcdefgh');
      jest.advanceTimersByTime(300);
      await settled();
      expect(sent.seen).toEqual([]);
      (await history.store.nth(1)).answer();
      expect(await sent.over()).toEqual(WHOLE);
    });

    it('is over when the response comes before the whole of it', async () => {
      await bring('ab');
      const request = await history.store.nth(1);
      request.answer('full', '413 Full');
      expect(await sent.over()).toEqual([413, 'full', 'end']);
      await comes('the end of the connection', () => request.isClosed);
    });
  });

  it('fails with an upstream that takes no more of its body for as long as a response may take', async () => {
    const size = 64_000_000;
    const stream = new PassThrough();
    const sent = send({ ...APPEND, body: { stream, lengthBytes: size } });
    const request = await history.store.nth(1);
    request.socket.pause();
    stream.end(Buffer.alloc(size));
    await settled();
    await pass(2 * RESPONSE_MS + 400);
    expect(sent.seen).toEqual(['upstream_timeout']);
    await comes('the end of the connection', () => request.isClosed || !request.socket.resume());
  });

  // Thrown through the parser, they looked like a fault of the upstream.
  describe('whose handler throws', () => {
    const FAULT = new Error('a bug');
    const fail = (): never => {
      throw FAULT;
    };

    it.each([
      ['head', 'onHead', ['internal_error']],
      ['piece', 'onChunk', [200, 'internal_error']],
    ] as const)('fails at a %s, logs it, and closes its connection', async (_, at, seen) => {
      const sent = send({}, { [at]: fail });
      const request = await history.store.nth(1);
      request.answer();
      await comes('the end of the connection', () => request.isClosed);
      expect([sent.seen, history.calls]).toEqual([seen, [[200, 'other']]]);
      expect(sent.failure).toMatchObject({ reached: 'answered', cause: FAULT });
      expect(history.log).toEqual([expect.stringContaining('a bug')]);
    });

    it('fails at the end, and leaves its connection to others', async () => {
      const sent = send({}, { onEnd: fail });
      (await history.store.nth(1)).answer();
      await sent.over();
      expect(sent.seen).toEqual([200, 'ok', 'internal_error']);
      expect(history.log).toEqual([expect.stringContaining('a bug')]);
      const next = send();
      (await history.store.nth(2)).answer();
      expect(await next.over()).toEqual(WHOLE);
      expect(history.store.accepted).toBe(1);
    });
  });
});
