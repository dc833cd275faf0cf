import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import { comes, settled } from '../../test/support/fake-time.ts';
import { HistoryExchanges, RESPONSE_MS } from '../../test/support/history-exchanges.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { RequestRecord } from '../platform/telemetry/request-record.ts';
import type { AnswerHandler } from '../proxy/upstream/exchange.ts';
import type { Upstream } from '../proxy/upstream/upstream.ts';
import { attempt, type FailedAttempt, type RuntimeAnswer } from './runtime-attempt.ts';

const REQUEST = {
  method: 'POST',
  target: '/x',
  headers: ['host', 'runtime.test'],
  body: { bytes: Buffer.from('body') },
  context: new RequestRecord('r1', '/x'),
  timeoutMs: RESPONSE_MS,
  isLive: false,
  isRepeatable: false,
  isTimedToEnd: true,
  isJudged: false,
};

async function failureOf(outcome: Promise<RuntimeAnswer | FailedAttempt>): Promise<FailedAttempt> {
  const failure = await outcome;
  if ('status' in failure) throw new Error('it did not fail');
  return failure;
}

async function answerOf(outcome: Promise<RuntimeAnswer | FailedAttempt>): Promise<RuntimeAnswer> {
  const answer = await outcome;
  if (!('status' in answer)) throw new Error('it failed');
  return answer;
}

describe('attempt', () => {
  let runtime: HistoryExchanges;
  let held: HeldBytes;

  beforeEach(async () => {
    held = new HeldBytes(1_000_000);
    runtime = await HistoryExchanges.start();
  });
  afterEach(async () => {
    await runtime.stop();
    expect(held.total).toBe(0);
  });
  const send = () => attempt(runtime.upstream, REQUEST, held);

  it('resolves with the whole answer', async () => {
    const answer = answerOf(send());
    const request = await runtime.store.nth(1);
    request.answer('h\xc3\xb6', '202 Accepted');
    const { status, text, header } = await answer;
    expect([status, text, header('content-length')]).toEqual([202, 'hö', '3']);
    expect(request.body).toBe('body');
  });

  it('tells how far it came', async () => {
    const lost = failureOf(send());
    (await runtime.store.nth(1)).socket.resetAndDestroy();
    expect(await lost).toMatchObject({ reached: 'sent', isTimeout: false });
    await runtime.store.stop();
    expect(await failureOf(send())).toMatchObject({ reached: 'nowhere', isTimeout: false });
  });

  it.each<[string, string, (socket: Socket) => void, boolean]>([
    ['ended in its head', 'HTTP/1.1 200 OK\r\nConte', (socket) => void socket.end(), true],
    [
      'ended in its body',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no',
      (socket) => void socket.end(),
      true,
    ],
    [
      'reset in its body',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no',
      (socket) => void socket.resetAndDestroy(),
      true,
    ],
    ['no HTTP', 'no HTTP at all\r\n\r\n', (socket) => void socket.end(), false],
  ])('tells whether an answer that is %s was cut', async (_, bytes, leave, wasCut) => {
    const failure = failureOf(send());
    const { socket } = await runtime.store.nth(1);
    socket.write(bytes);
    await settled();
    leave(socket);
    expect(await failure).toMatchObject({ reached: 'answered', mayPass: wasCut });
  });

  it('reads no more than the runtime says, and closes its connection then', async () => {
    const failure = failureOf(send());
    const request = await runtime.store.nth(1);
    request.answer('x'.repeat(65_537));
    expect(await failure).toMatchObject({ reached: 'answered', isTimeout: false, mayPass: false });
    await comes('the end of the connection', () => request.isClosed);
  });

  // Each could bring 64 KiB and stop, and there are thousands of commands.
  it.each<[string, (handler: AnswerHandler) => void]>([
    ['answer', (handler) => handler.onEnd()],
    [
      'failure',
      (handler) =>
        handler.onFailure({
          error: new GatewayError('upstream_timeout', 'late'),
          reached: 'answered',
          isTimeout: true,
          cause: undefined,
        }),
    ],
  ])('holds the bytes of its answer until its %s', async (_, end) => {
    let handler: AnswerHandler | undefined;
    const upstream = {
      exchange: (_request: unknown, given: AnswerHandler) => void (handler = given),
    } as unknown as Upstream;
    const answer = attempt(upstream, REQUEST, held);
    handler?.onHead(202, []);
    handler?.onChunk(Buffer.alloc(60_000));
    expect(held.byKind.answers).toBeGreaterThanOrEqual(60_000);
    if (handler) end(handler);
    expect(held.total).toBe(0);
    await answer;
  });
});
