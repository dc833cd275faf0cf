import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { RequestContext } from '../../platform/server/request-context.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import { ClientAnswer } from './client-answer.ts';

/** A response whose client takes what is written when the test says so. */
class SlowResponse {
  readonly taken: ((error?: Error) => void)[] = [];
  readonly ends: unknown[] = [];
  resets = 0;
  closed = false;
  /** What the kernel has not accepted. */
  writableLength = 1;
  readonly socket = { destroyed: false, resetAndDestroy: () => void this.resets++ };

  write(_piece: Buffer, onTaken: (error?: Error) => void): void {
    this.taken.push(onTaken);
  }

  end(...piece: unknown[]): void {
    this.ends.push(piece);
  }
}

describe('ClientAnswer', () => {
  let response: SlowResponse;
  let answer: ClientAnswer;
  let takenBytes: number;
  let sentBytes: number;

  beforeEach(() => {
    const context = new RequestContext('r1', '/x', '');
    takenBytes = 0;
    const held = new HeldBytes(100_000);
    sentBytes = 0;
    held.sent = (bytes) => void (sentBytes += bytes);
    response = new SlowResponse();
    const rules = {} as AnswerRules;
    answer = new ClientAnswer(response as unknown as ServerResponse, context, rules, held);
  });
  const state = () => [answer.isSending, answer.isFull];
  const write = (bytes: number): void =>
    answer.write(Buffer.alloc(bytes), (taken) => void (takenBytes += taken));
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

  it.each<[string | Buffer | undefined, number, unknown[]]>([
    ['last', 4, ['last', 'latin1']],
    [Buffer.from('last'), 4, [Buffer.from('last'), 'latin1']],
    [undefined, 0, []],
  ])('ends with %j, and tells whether the kernel has accepted all', (piece, bytes, ended) => {
    expect([answer.end(piece), sentBytes, response.ends]).toEqual([false, bytes, [ended]]);
    response.writableLength = 0;
    expect(answer.end(piece)).toBe(true);
  });

  it('resets the connection of a client that does not read', () => {
    answer.drop();
    expect(response.resets).toBe(1);
  });
});
