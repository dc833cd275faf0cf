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
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import { ClientAnswer } from './client-answer.ts';
import type { ProxyCall } from './proxy-call.ts';
import { Reader } from './reader.ts';
import { SharedAnswer } from './shared-answer.ts';

/** More than the kernel takes for a client that does not read. */
const MORE_THAN_KERNEL_BYTES = 33_554_432;
const EVENTS = ['Content-Type', 'text/event-stream'];
const FINITE = ['X-A', 'b'];
const EVENT = 'event: control\ndata: {}\n\n';
const RULES = {
  varyNames: [],
  secretBytes: undefined,
  upstream: { isRead: false },
} as unknown as AnswerRules;
const EXPIRED = new GatewayError('token_expired', 'over');
const LOST = new GatewayError('upstream_unreachable', 'lost');

describe('Reader', () => {
  let server: Listening;
  let client: Wire;
  let response: ServerResponse;
  let held: HeldBytes;
  let reader: Reader;
  let answer: SharedAnswer;
  let isCancelled: boolean;
  let refused: Error[];
  /** The places that were given back. */
  let counted: unknown[];

  beforeEach(async () => {
    const http = createServer();
    server = await listening(http);
    client = await openWireThatTellsResets(server.port);
    const asked = once(http, 'request');
    await client.write('GET / HTTP/1.1\r\nHost: g\r\n\r\n');
    response = ((await asked) as [unknown, ServerResponse])[1];
    response.sendDate = false;
    response.on('error', () => undefined);
    held = new HeldBytes(2 * MORE_THAN_KERNEL_BYTES);
    counted = [];
    refused = [];
    isCancelled = false;
    reader = newReader();
    answer = new SharedAnswer(undefined, held);
    reader.join(answer);
    answer.launch('first');
  });
  afterEach(async () => {
    client.socket.destroy();
    await server.stop();
    await closed();
    expect(held.total).toBe(0);
  });

  function newReader(): Reader {
    const call = {
      context: new RequestContext('r1', '/x', ''),
      upstream: { protocol: durableStreams, faultOf: (fault: Error) => fault },
      send: () => ({
        pause: () => undefined,
        resume: () => undefined,
        cancel: () => void (isCancelled = true),
      }),
    } as unknown as ProxyCall;
    const made = new Reader(
      call,
      new ClientAnswer(response, call.context, RULES, held),
      () => counted.push('left'),
      (error) => refused.push(error),
    );
    response.on('close', () => made.onClosed());
    return made;
  }

  /** The error that answers the read in place of its response. */
  async function refusal(): Promise<Error | undefined> {
    await turnEnd();
    expect(refused.length).toBeLessThanOrEqual(1);
    return refused[0];
  }

  const begin = (headers: string[]): void => answer.onHead(200, headers);
  const bring = (text: string): void => answer.onChunk(Buffer.from(text));
  const fail = (error: GatewayError): void =>
    answer.onFailure({ error, reached: 'answered', isTimeout: false, cause: undefined });
  /** The head has been sent, without a part of the body. */
  async function beginAlone(headers: string[]): Promise<void> {
    begin(headers);
    await client.until('\r\n\r\n');
  }
  const closed = (): Promise<unknown> =>
    awaited('the response closes', response.closed ? Promise.resolve([]) : once(response, 'close'));
  const bodyOf = async (text: string): Promise<string> =>
    (await client.until(text)).split('\r\n\r\n').slice(1).join('\r\n\r\n');

  it('sends a complete body with its length, together with the head', async () => {
    const packets: string[] = [];
    client.socket.on('data', (packet: string) => packets.push(packet));
    begin(FINITE);
    bring('whole');
    answer.onEnd();
    expect(response.headersSent).toBe(false);
    expect(await bodyOf('whole')).toBe('whole');
    expect(packets).toHaveLength(1);
    expect(client.received).toMatch(
      /^HTTP\/1\.1 200 OK\r\nX-Request-Id: r1\r\nX-A: b\r\n[^]*Content-Length: 5\r\n/i,
    );
    await closed();
    expect([await refusal(), counted]).toEqual([undefined, ['left']]);
  });

  it('sends no body where there is none', async () => {
    begin(['Content-Length', '0']);
    answer.onEnd();
    expect(await bodyOf('\r\n\r\n')).toBe('');
    expect(client.received).toMatch(/Content-Length: 0\r\n/i);
  });

  it('sends the head alone when nothing of the body has come, and then each piece', async () => {
    await beginAlone(EVENTS);
    for (const text of ['one', 'two']) {
      bring(text);
      await client.until(text);
    }
    await until('both pieces are taken', () => reader.takenTo === 6);
    bring('last');
    answer.onEnd();
    expect(await bodyOf('0\r\n\r\n')).toBe('3\r\none\r\n3\r\ntwo\r\n4\r\nlast\r\n0\r\n\r\n');
  });

  it('sends what had come by the end of the turn with the head, and the rest when it comes', async () => {
    begin(FINITE);
    bring('early');
    await client.until('early');
    answer.onEnd();
    expect(await bodyOf('0\r\n\r\n')).toBe('5\r\nearly\r\n0\r\n\r\n');
  });

  it('sends no more than four pieces before its client has some, and then all of them', async () => {
    await beginAlone(EVENTS);
    response.cork();
    for (let piece = 0; piece < 9; piece++) {
      bring(`p${piece}`);
      answer.deliver();
    }
    answer.onEnd();
    expect([reader.writtenTo, reader.isFull]).toEqual([8, true]);
    response.uncork();
    expect(await bodyOf('0\r\n\r\n')).toBe('8\r\np0p1p2p3\r\na\r\np4p5p6p7p8\r\n0\r\n\r\n');
  });

  it('cannot answer with a head that has an invalid header', async () => {
    begin(['X-A', 'a\u0001b']);
    expect(await refusal()).toMatchObject({ code: 'upstream_invalid_response' });
    expect([isCancelled, response.headersSent]).toEqual([true, false]);
  });

  describe('that fails', () => {
    it('is refused with the error before its response, and is counted once', async () => {
      fail(LOST);
      reader.fail(EXPIRED);
      expect(await refusal()).toBe(LOST);
      expect(counted).toEqual([]);
    });

    it('breaks the response off with the bytes that have come', async () => {
      begin(FINITE);
      bring('part');
      fail(LOST);
      await client.ended;
      expect(client.received).toContain('part');
      expect(client.received).not.toContain('0\r\n\r\n');
      expect([await refusal(), counted]).toEqual([undefined, ['left']]);
    });
  });

  describe('that is ended early', () => {
    it('is refused with the error before its response', async () => {
      reader.endEarly(EXPIRED);
      expect([await refusal(), isCancelled]).toEqual([EXPIRED, true]);
    });

    it('ends where it can resume, with what it has not sent yet', async () => {
      await beginAlone(EVENTS);
      bring('data: 1\n\n');
      await client.until('data: 1');
      reader.endEarly(EXPIRED);
      reader.endEarly(EXPIRED);
      bring(`${EVENT}data: 2\n\n`);
      expect(await bodyOf('0\r\n\r\n')).toBe(
        `9\r\ndata: 1\n\n\r\n${EVENT.length.toString(16)}\r\n${EVENT}\r\n0\r\n\r\n`,
      );
      expect([await refusal(), isCancelled]).toEqual([undefined, true]);
    });

    it('ends in the turn in which its response begins', async () => {
      begin(EVENTS);
      bring(EVENT);
      reader.endEarly(EXPIRED);
      expect(await bodyOf(EVENT)).toContain(EVENT);
      await closed();
      expect([await refusal(), isCancelled]).toEqual([undefined, true]);
    });

    it('leaves a finite response to finish', async () => {
      await beginAlone(FINITE);
      reader.endEarly(EXPIRED);
      bring('rest');
      answer.onEnd();
      expect(await bodyOf('0\r\n\r\n')).toBe('4\r\nrest\r\n0\r\n\r\n');
    });

    it.each([
      ['2 s later, when its event does not end', 'data: half', 2_000],
      [
        '30 s later, if its client does not take its last bytes',
        `data: ${'x'.repeat(MORE_THAN_KERNEL_BYTES)}\n\n${EVENT}`,
        30_000,
      ],
    ])('is broken off %s', async (_, text, timeoutMs) => {
      await beginAlone(EVENTS);
      client.socket.pause();
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
      try {
        bring(text);
        answer.deliver();
        reader.endEarly(EXPIRED);
        jest.advanceTimersByTime(timeoutMs - 1);
        expect(response.destroyed).toBe(false);
        jest.advanceTimersByTime(1);
      } finally {
        jest.useRealTimers();
      }
      client.socket.resume();
      expect(await client.ended).toBe('reset');
      expect([isCancelled, held.total]).toEqual([true, 0]);
    });
  });

  describe('that is too slow', () => {
    it.each([
      ['before its response', () => undefined],
      ['before its head is sent', () => begin(EVENTS)],
    ])('is refused %s', async (_, before) => {
      before();
      reader.shed();
      expect(await refusal()).toMatchObject({ code: 'overloaded', reason: 'slow_reader' });
      expect(reader.call.context.errorReason).toBe('slow_reader');
    });

    // It had left the list of slow clients after that had got it for its last bytes.
    it('is reset after the end of its response, while its client does not take the last bytes', async () => {
      client.socket.pause();
      begin(FINITE);
      answer.deliver();
      answer.onChunk(Buffer.alloc(MORE_THAN_KERNEL_BYTES));
      answer.onEnd();
      expect(reader.isFull).toBe(true);
      held.hold('bodies', held.limitBytes);
      await turnEnd();
      held.release('bodies', held.limitBytes);
      expect(reader.call.context.errorReason).toBe('slow_reader');
      client.socket.resume();
      expect(await client.ended).toBe('reset');
    });

    it('is reset within its response', async () => {
      await beginAlone(EVENTS);
      reader.shed();
      expect([await client.ended, isCancelled]).toEqual(['reset', true]);
    });
  });

  describe('whose client goes', () => {
    it('lets its answer go before that has begun, and is counted', async () => {
      client.reset();
      await closed();
      expect([await refusal(), isCancelled, counted]).toEqual([undefined, true, ['left']]);
    });

    it('lets its answer go within it', async () => {
      await beginAlone(EVENTS);
      client.reset();
      await closed();
      reader.wake();
      expect([await refusal(), isCancelled]).toEqual([undefined, true]);
    });

    it('gets no response that begins in the same turn', async () => {
      begin(EVENTS);
      response.destroy();
      expect(await refusal()).toBeUndefined();
      await closed();
      expect(isCancelled).toBe(true);
    });
  });
});
