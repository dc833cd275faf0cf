import type { ServerResponse } from 'node:http';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { HeldBytes, PIECE_OVERHEAD_BYTES } from '../../platform/memory/held-bytes.ts';
import { RequestContext } from '../../platform/server/request-context.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import { ClientAnswer } from './client-answer.ts';
import { SharedBody } from './shared-body.ts';

/** A response whose client takes what is written when the test says so. */
class SlowResponse {
  readonly taken: ((error?: Error) => void)[] = [];
  readonly ends: unknown[] = [];
  resets = 0;
  /** What the kernel has not accepted. */
  writableLength = 1;
  readonly socket = { destroyed: false, resetAndDestroy: () => void this.resets++ };

  write(_piece: string, _encoding: string, onTaken: (error?: Error) => void): void {
    this.taken.push(onTaken);
  }

  end(piece?: string): void {
    this.ends.push(piece);
  }
}

describe('ClientAnswer', () => {
  let held: HeldBytes;
  let nowMs: number;
  let response: SlowResponse;
  let answer: ClientAnswer;
  let context: RequestContext;
  let takenBytes: number;
  let sentBytes: number;

  beforeEach(() => {
    nowMs = 10_000;
    context = new RequestContext('r1', '/x', '');
    takenBytes = 0;
    held = new HeldBytes(100_000, () => nowMs);
    sentBytes = 0;
    held.sent = (bytes) => void (sentBytes += bytes);
    response = new SlowResponse();
    const rules = {} as AnswerRules;
    answer = new ClientAnswer(response as unknown as ServerResponse, context, rules, held);
  });
  const state = () => [answer.isSending, answer.isFull];
  const write = (bytes: number): void =>
    answer.write('x'.repeat(bytes), (taken) => void (takenBytes += taken));
  const take = (error?: Error): void => response.taken.shift()?.(error);

  it('is full with four pieces, and not with three', () => {
    expect(state()).toEqual([false, false]);
    for (let i = 0; i < 3; i++) write(1);
    expect(state()).toEqual([true, false]);
    write(1);
    expect(state()).toEqual([true, true]);
    take();
    expect(state()).toEqual([true, false]);
    for (let i = 0; i < 3; i++) take();
    expect([...state(), takenBytes]).toEqual([false, false, 4]);
  });

  it('is full with 64 KiB, and not with a byte less', () => {
    write(65_535);
    expect(answer.isFull).toBe(false);
    write(1);
    expect([answer.isFull, sentBytes]).toEqual([true, 65_536]);
    take();
    expect([answer.isFull, takenBytes]).toEqual([false, 65_535]);
  });

  it('takes a piece that failed for none that its client has read', () => {
    write(10);
    take(new Error('gone'));
    expect([...state(), takenBytes]).toEqual([true, false, 0]);
  });

  it('counts what is in flight from the end of the response on, until it is closed', () => {
    write(1_000);
    expect(held.total).toBe(0);
    answer.end('x'.repeat(200));
    expect([held.of('answers'), sentBytes]).toEqual([PIECE_OVERHEAD_BYTES + 1_200, 1_200]);
    expect(response.ends).toEqual(['x'.repeat(200)]);
    answer.onClosed();
    answer.onClosed();
    expect(held.total).toBe(0);
  });

  it('counts nothing where the kernel has accepted all of it at once', () => {
    response.writableLength = 0;
    answer.end('x'.repeat(200));
    expect([held.total, sentBytes]).toEqual([0, 200]);
    answer.onClosed();
    expect(held.total).toBe(0);
  });

  it('counts the bytes of a shared body there, which it leaves once', () => {
    const shared = new SharedBody(held, 500);
    shared.giveTo(2);
    answer.shared = shared;
    answer.end('x'.repeat(500));
    expect(held.total).toBe(500 + PIECE_OVERHEAD_BYTES);
    answer.onClosed();
    answer.onClosed();
    expect(held.total).toBe(500);
    shared.leave();
    expect(held.total).toBe(0);
  });

  it('has a slow client from the end of the response until it is closed', async () => {
    write(80_000);
    answer.end(undefined);
    expect(response.ends).toEqual([undefined]);
    nowMs += 2_000;
    expect([held.tryTake('bodies', 10_000), response.resets]).toEqual([false, 1]);
    expect(context.errorReason).toBe('slow_reader');
    answer.end(undefined);
    answer.onClosed();
    held.hold('bodies', 200_000);
    await turnEnd();
    expect(response.resets).toBe(1);
  });
});
