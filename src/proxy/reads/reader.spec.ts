import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { listening, type Listening } from '../../../test/support/listening.ts';
import { awaited, until } from '../../../test/support/until.ts';
import { openWireThatTellsResets, type Wire } from '../../../test/support/wire.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { RequestContext } from '../../platform/server/request-context.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import type { BodySource } from './body-source.ts';
import { ClientAnswer } from './client-answer.ts';
import { Deadlines, type Deadline } from './deadlines.ts';
import { ReadHead } from './read-head.ts';
import { Reader } from './reader.ts';
import { SharedBody } from './shared-body.ts';
import type { ReadCall } from './read-call.ts';

const MIB = 1_048_576;
const EVENTS = new ReadHead(200, ['Content-Type', 'text/event-stream']);
const FINITE = new ReadHead(200, ['X-A', 'b']);
const RULES = {
  varyNames: [],
  secretBytes: undefined,
  upstream: { isRead: false },
} as unknown as AnswerRules;
const EXPIRED = new GatewayError('token_expired', 'over');

/** A source whose pieces the test adds. */
class Source implements BodySource {
  pieces: Buffer[] = [];
  hasEnded = false;
  takenBytes = 0;
  asksToEnd: Error[] = [];
  hasLeft = 0;

  next(reader: Reader): Buffer | undefined {
    if (reader.isFull) throw new Error('a full reader asks for more');
    return this.pieces.shift();
  }

  isWhole(): boolean {
    return this.hasEnded && this.pieces.length === 0;
  }

  onTaken(_: Reader, bytes: number): void {
    this.takenBytes += bytes;
  }

  endSoon(_: Reader, reason: Error): void {
    this.asksToEnd.push(reason);
  }

  leave(): void {
    this.hasLeft++;
  }
}

describe('Reader', () => {
  let server: Listening;
  let client: Wire;
  let response: ServerResponse;
  let held: HeldBytes;
  let counted: unknown[];
  let reader: Reader;
  let source: Source;
  let refused: Error[];
  /** The credentials whose places were given back. */
  let left: string[];
  const deadlines = new Deadlines<Reader>(
    () => performance.now(),
    () => undefined,
  );
  let timeouts: Deadline<Reader>[];

  beforeEach(async () => {
    const http = createServer();
    server = await listening(http);
    client = await openWireThatTellsResets(server.port);
    const asked = once(http, 'request');
    await client.write('GET / HTTP/1.1\r\nHost: g\r\n\r\n');
    response = ((await asked) as [unknown, ServerResponse])[1];
    response.sendDate = false;
    response.on('error', () => undefined);
    held = new HeldBytes(10 * MIB);
    counted = [];
    refused = [];
    left = [];
    timeouts = [];
    source = new Source();
    reader = newReader();
  });
  afterEach(async () => {
    client.socket.destroy();
    await server.stop();
    expect(held.total).toBe(0);
  });

  function newReader(): Reader {
    const context = new RequestContext('r1', '/x', '');
    const call = { context, credentialId: 'c1', share: 'first' } as ReadCall;
    call.context.live = 'sse';
    const counts = { count: (...count: unknown[]) => counted.push(count) };
    const answer = new ClientAnswer(response, call.context, RULES, held);
    const limits = { leave: (credentialId: string) => left.push(credentialId) };
    const startTimeout = (waiting: Reader): Deadline<Reader> => {
      const timeout = deadlines.add(performance.now() + 60_000, waiting);
      timeouts.push(timeout);
      return timeout;
    };
    const made = new Reader(call, answer, { counts, limits, startTimeout } as never, (error) => {
      refused.push(error);
    });
    response.on('close', () => made.onClosed());
    return made;
  }

  /** The error that answers the read in place of its response. */
  async function refusal(): Promise<Error | undefined> {
    await turnEnd();
    expect(refused.length).toBeLessThanOrEqual(1);
    return refused[0];
  }

  const closed = (): Promise<unknown> =>
    awaited('the response closes', response.closed ? Promise.resolve([]) : once(response, 'close'));
  const bodyOf = async (text: string): Promise<string> =>
    (await client.until(text)).split('\r\n\r\n').slice(1).join('\r\n\r\n');

  it('sends a complete body with its length, together with the head', async () => {
    const packets: string[] = [];
    client.socket.on('data', (packet: string) => packets.push(packet));
    reader.begin(FINITE, source);
    source.pieces.push(Buffer.from('whole'));
    source.hasEnded = true;
    expect(response.headersSent).toBe(false);
    expect(await bodyOf('whole')).toBe('whole');
    expect(packets).toHaveLength(1);
    expect(client.received).toMatch(
      /^HTTP\/1\.1 200 OK\r\nX-Request-Id: r1\r\nX-A: b\r\n[^]*Content-Length: 5\r\n/i,
    );
    expect([await refusal(), source.hasLeft, counted]).toEqual([undefined, 1, [['sse', 'first']]]);
  });

  it('sends the head alone when nothing of the body has come, and then each piece', async () => {
    reader.begin(EVENTS, source);
    await client.until('\r\n\r\n');
    expect(reader.isReady).toBe(true);
    for (const text of ['one', 'two']) {
      source.pieces.push(Buffer.from(text));
      reader.wake();
      await client.until(text);
    }
    await until('both pieces are taken', () => source.takenBytes === 6);
    source.pieces.push(Buffer.from('last'));
    source.hasEnded = true;
    reader.wake();
    expect(await bodyOf('0\r\n\r\n')).toBe('3\r\none\r\n3\r\ntwo\r\n4\r\nlast\r\n0\r\n\r\n');
    expect(source.hasLeft).toBe(1);
  });

  it('sends what had come by the end of the turn with the head, and the rest when it comes', async () => {
    source.pieces.push(Buffer.from('early'));
    reader.begin(FINITE, source);
    await client.until('early');
    source.hasEnded = true;
    reader.wake();
    expect(await bodyOf('0\r\n\r\n')).toBe('5\r\nearly\r\n0\r\n\r\n');
  });

  it('takes no more than four pieces before its client has some, and then all of them', async () => {
    reader.begin(EVENTS, source);
    await client.until('\r\n\r\n');
    response.cork();
    source.pieces = Array.from({ length: 9 }, (_, index) => Buffer.from(`p${index}`));
    source.hasEnded = true;
    reader.wake();
    expect([source.pieces.length, reader.isFull, reader.isSending]).toEqual([5, true, true]);
    response.uncork();
    expect(await bodyOf('0\r\n\r\n')).toContain('2\r\np8\r\n');
  });

  it('sends the body of a shared response, and leaves that when its client has it', async () => {
    const shared = new SharedBody(held, undefined);
    shared.add(Buffer.from('shared'));
    shared.giveTo(1);
    reader.answer(FINITE, 'shared', shared);
    expect(await bodyOf('shared')).toBe('shared');
    await closed();
    expect([await refusal(), held.total, counted]).toEqual([undefined, 0, [['sse', 'first']]]);
    expect(left).toEqual(['c1']);
  });

  it('cannot answer with a head that has an invalid header', async () => {
    reader.begin(new ReadHead(200, ['X-A', 'a\u0001b']), source);
    expect(await refusal()).toMatchObject({ code: 'upstream_invalid_response' });
    expect([source.hasLeft, response.headersSent]).toEqual([1, false]);
  });

  describe('that fails', () => {
    const LOST = new GatewayError('upstream_unreachable', 'lost');

    it('is refused with the error before its response, and is counted once', async () => {
      reader.place = source;
      reader.fail(LOST);
      reader.fail(EXPIRED);
      expect(await refusal()).toBe(LOST);
      expect([source.hasLeft, counted]).toEqual([1, [['sse', 'first']]]);
      response.end();
    });

    it('breaks the response off with the bytes that have come', async () => {
      reader.begin(FINITE, source);
      source.pieces.push(Buffer.from('part'));
      reader.fail(LOST);
      await client.ended;
      expect(client.received).toContain('part');
      expect(client.received).not.toContain('0\r\n\r\n');
      expect([await refusal(), source.hasLeft]).toEqual([undefined, 1]);
    });
  });

  describe('that is ended early', () => {
    it('is refused with the error before its response', async () => {
      reader.endEarly(EXPIRED);
      expect(await refusal()).toBe(EXPIRED);
      response.end();
    });

    it('has an event stream end at its source, which it asks once', async () => {
      reader.begin(EVENTS, source);
      reader.endEarly(EXPIRED);
      reader.endEarly(EXPIRED);
      expect(source.asksToEnd).toEqual([EXPIRED]);
      reader.endWith(Buffer.from('tail'));
      expect(await bodyOf('tail')).toContain('tail');
      expect([await refusal(), source.hasLeft]).toEqual([undefined, 1]);
    });

    it('leaves a finite response to finish', async () => {
      reader.begin(FINITE, source);
      await client.until('\r\n\r\n');
      reader.endEarly(EXPIRED);
      source.pieces.push(Buffer.from('rest'));
      source.hasEnded = true;
      reader.wake();
      expect(await bodyOf('0\r\n\r\n')).toBe('4\r\nrest\r\n0\r\n\r\n');
      expect(source.asksToEnd).toEqual([]);
    });

    it.each([
      ['when its event does not end in time', () => reader.dropIn(2_000), 2_000, 0],
      ['30 s after its last bytes, if its client does not take them', endCorked, 30_000, 1],
    ])('is broken off %s', async (_, end, timeoutMs, left) => {
      reader.begin(EVENTS, source);
      await client.until('\r\n\r\n');
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
      try {
        end();
        jest.advanceTimersByTime(timeoutMs - 1);
        expect([response.destroyed, source.hasLeft]).toEqual([false, left]);
        jest.advanceTimersByTime(1);
      } finally {
        jest.useRealTimers();
      }
      expect(await client.ended).toBe('reset');
      expect(source.hasLeft).toBe(1);
    });

    function endCorked(): void {
      response.socket?.cork();
      reader.endWith(Buffer.from('tail'));
    }
  });

  describe('that is too slow', () => {
    it.each([
      ['before its response', () => undefined],
      ['before its head is sent', () => reader.begin(EVENTS, source)],
    ])('is refused %s', async (_, before) => {
      before();
      reader.shed();
      expect(await refusal()).toMatchObject({ code: 'overloaded', reason: 'slow_reader' });
      expect(reader.call.context.errorReason).toBe('slow_reader');
      response.end();
    });

    // Its source had taken it from the list of slow clients after the list had got it for its last bytes.
    it('is reset after the end of its response, while its client does not take the last bytes', async () => {
      held.addSlow(reader);
      source.leave = () => held.deleteSlow(reader);
      client.socket.pause();
      reader.begin(FINITE, source);
      reader.open();
      // More than the kernel takes for a client that does not read.
      source.pieces.push(Buffer.alloc(32 * MIB));
      source.hasEnded = true;
      reader.wake();
      held.hold('bodies', 10 * MIB);
      await turnEnd();
      held.release('bodies', 10 * MIB);
      expect(reader.call.context.errorReason).toBe('slow_reader');
      client.socket.resume();
      expect(await client.ended).toBe('reset');
    });

    it('is reset within its response', async () => {
      reader.begin(EVENTS, source);
      await client.until('\r\n\r\n');
      reader.shed();
      expect([await client.ended, source.hasLeft]).toEqual(['reset', 1]);
    });
  });

  describe('whose client goes', () => {
    it('lets its source go before its response and is counted', async () => {
      reader.place = source;
      client.reset();
      await closed();
      expect([await refusal(), left]).toEqual([undefined, ['c1']]);
      expect([source.hasLeft, counted]).toEqual([1, [['sse', 'first']]]);
    });

    it('lets its source go within its response', async () => {
      reader.begin(EVENTS, source);
      await client.until('\r\n\r\n');
      client.reset();
      await closed();
      reader.wake();
      expect([await refusal(), source.hasLeft]).toEqual([undefined, 1]);
    });

    it('gets no response that begins in the same turn', async () => {
      reader.begin(EVENTS, source);
      response.destroy();
      expect(await refusal()).toBeUndefined();
      await closed();
      expect(source.hasLeft).toBe(1);
    });
  });

  describe('with deadlines', () => {
    let expiry: Deadline<Reader>;
    beforeEach(() => {
      reader.awaitHead();
      expiry = reader.expiry = deadlines.add(performance.now() + 60_000, reader);
    });
    const states = (): boolean[] => [...timeouts, expiry].map(({ isCalledOff }) => isCalledOff);

    it('calls the first off when its response begins, and the other at its end', () => {
      reader.begin(EVENTS, source);
      expect(states()).toEqual([true, false]);
      reader.endWith(undefined);
      expect(states()).toEqual([true, true]);
    });

    // With the timeout running on, two readers of one slow body got 502 where a single one got the body.
    it('calls the first off when the headers have come, and has another one for another request', () => {
      reader.onHead();
      expect(states()).toEqual([true, false]);
      reader.awaitHead();
      expect(states()).toEqual([true, false, false]);
    });

    it('calls both off when it is refused', async () => {
      reader.fail(EXPIRED);
      expect(states()).toEqual([true, true]);
      expect(await refusal()).toBe(EXPIRED);
      response.end();
    });
  });
});
