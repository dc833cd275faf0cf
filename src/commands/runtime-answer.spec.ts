import { describe, expect, it } from '@jest/globals';
import { runtimeAnswer } from '../../test/support/runtime-answer.ts';
import { upstreamsWith } from '../../test/support/upstreams.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { HeaderList } from '../platform/http/header-list.ts';
import { interpretAnswer, isRefusal, retryAfterMs, type SentCommand } from './runtime-answer.ts';

/** Restate says where its errors come from, from 1.7.4 on. */
const OF_RUNTIME = ['x-restate-error-source', 'ingress'];
const MESSAGE = '{"message":"no such field"}';
const SENT: SentCommand = {
  upstream: upstreamsWith().runtimeIngress,
  api: 'classic',
  isRepeatable: false,
  method: 'POST',
  target: '/chat/a1/wake/send',
};

describe('interpretAnswer', () => {
  it.each([
    ['Accepted', false],
    ['PreviouslyAccepted', true],
    [undefined, false],
  ])('reads a 202 whose status is %j', (status, isReplay) => {
    const text = JSON.stringify({ invocationId: 'inv_1', status });
    expect(interpretAnswer(SENT, runtimeAnswer(202, [], text))).toEqual({
      invocationId: 'inv_1',
      isReplay,
    });
  });

  it.each([
    '',
    'no JSON',
    'null',
    '[]',
    '"inv_1"',
    '{}',
    '{"invocationId":""}',
    '{"invocationId":7}',
    '{"invocationId":"xinv_1"}',
  ])('cannot use the 202 %j', (text) => {
    expect(failure(202, text)).toMatchObject({ code: 'upstream_invalid_response', status: 502 });
  });

  it.each([100, 204, 300, 301, 302, 304, 401, 403, 500, 503, 599])('cannot use %d', (status) => {
    expect(failure(status)).toMatchObject({ code: 'upstream_invalid_response', status: 502 });
  });

  it('cannot use a 202 in a transfer coding that nobody undoes', () => {
    const text = '{"invocationId":"inv_1"}';
    expect(failure(202, text, ['transfer-encoding', 'gzip'])).toMatchObject({
      code: 'upstream_invalid_response',
    });
  });

  it('takes a 413 for its own limit', () => {
    expect(failure(413)).toMatchObject({ code: 'body_too_large', reason: 'runtime' });
  });

  it.each([400, 405, 408, 409, 415, 422])('hands on the reason of %d', (status) => {
    expect(failure(status, MESSAGE)).toMatchObject({
      code: 'runtime_rejected',
      status: 400,
      message: 'The runtime rejected the command: no such field',
    });
  });

  // A gateway set to the new paths before a Restate of 1.6 told every client to register its deployment.
  it.each([
    ['classic', 404, 'not found', /^The runtime does not have the paths .*=classic; set it to/],
    ['restate', 404, 'not found', /^The runtime does not have the paths .*=restate, .* classic\.$/],
    ['classic', 400, 'bad path: /x', /^The .* command: bad path: \/x\. The runtime does not have/],
    ['classic', 404, "service 'not found' not found, make sure", /^The runtime knows no such/],
  ] as const)(
    'of %s, %d and %j tells whether the path is missing',
    (api, status, message, says) => {
      const { code, message: detail } = failure(status, JSON.stringify({ message }), [], { api });
      expect(code).toBe(status === 404 ? 'entity_type_not_registered' : 'runtime_rejected');
      expect(detail).toMatch(says);
    },
  );

  it.each(['', '<html>', '{"message":7}', '{"message":""}', 'null'])(
    'does without the reason where a 400 gives none, as in %j',
    (text) => {
      expect(failure(400, text, OF_RUNTIME).message).toBe(
        'The runtime rejected the command: it gave no reason.',
      );
    },
  );

  it('cuts a reason of more than 1,000 characters', () => {
    const { message } = failure(400, JSON.stringify({ message: 'x'.repeat(5_000) }));
    expect(message).toBe(`The runtime rejected the command: ${'x'.repeat(1_000)}`);
  });

  it.each([
    [['retry-after', '17'], '17'],
    [['retry-after', 'Wed, 21 Oct 2026 07:28:00 GMT'], 'Wed, 21 Oct 2026 07:28:00 GMT'],
    [[], '1'],
    [['retry-after', ''], '1'],
    [['retry-after', '0'], '0'],
  ])('answers 429 of %j with Retry-After %j', (headers, retryAfter) => {
    expect(failure(429, '', headers)).toMatchObject({
      code: 'rate_limited',
      reason: 'runtime',
      status: 429,
      headers: { 'Retry-After': retryAfter },
    });
  });

  // A proxy's 400, 403, 404 or 405 in HTML ended sends for good.
  describe('of what stands before the runtime', () => {
    it.each([400, 403, 404, 405, 422, 503])('takes no %d for its word', (status) => {
      const page = '<html>no</html>';
      expect(failure(status, page, [], { api: 'restate' })).toMatchObject({
        code: 'upstream_invalid_response',
        status: 502,
        message: expect.stringContaining('nothing is known of the command'),
        headers: {},
      });
    });

    it.each([
      ['passes on when a client may repeat a command that has a key', true, '7', '7'],
      ['does so with no other command', false, '7', undefined],
      ['does so with no time that is none', true, 'later', undefined],
    ])('%s', (_, isRepeatable, retryAfter, expected) => {
      const { headers } = failure(503, '', ['retry-after', retryAfter], { isRepeatable });
      expect(headers['Retry-After']).toBe(expected);
    });
  });
});

describe('isRefusal', () => {
  it.each<[string, number, HeaderList, string, isOfRestate: boolean, isOfClassic: boolean]>([
    ['an accepted command', 202, [], '', false, false],
    ['a page', 404, [], '<html>', true, true],
    ['a redirect', 302, [], '', true, true],
    ['an error without its source', 400, [], MESSAGE, true, false],
    ['the same of a proxy that speaks JSON', 400, [], '{"error":"no"}', true, true],
    ['an error with its source', 400, OF_RUNTIME, '', false, false],
    ['an internal error with its source', 500, OF_RUNTIME, '', false, false],
    [
      'one of a path that an older runtime does not have',
      404,
      [],
      '{"message":"not found"}',
      false,
      false,
    ],
    ['a 502, 503 or 504', 502, OF_RUNTIME, MESSAGE, true, true],
    ['a 502, 503 or 504', 503, OF_RUNTIME, MESSAGE, true, true],
    ['a 502, 503 or 504', 504, OF_RUNTIME, MESSAGE, true, true],
    // They concern the very request, whoever gives them.
    ['a body that is too large', 413, [], '<html>', false, false],
    ['too many requests', 429, [], '<html>', false, false],
  ])('of %s (%d, %j, %j) is %s, and %s by the classic way', (_, status, headers, text, ...is) => {
    const answer = runtimeAnswer(status, headers, text);
    expect([isRefusal('restate', answer), isRefusal('classic', answer)]).toEqual(is);
  });
});

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['20', 20_000],
    ['999999999', 999_999_999_000],
    ['1000000000', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ])('of %j is %j', (value, ms) => {
    expect(retryAfterMs(runtimeAnswer(503, ['Retry-After', value], ''))).toBe(ms);
    expect(retryAfterMs(runtimeAnswer(503, [], ''))).toBeUndefined();
  });
});

function failure(
  status: number,
  text = '',
  headers: HeaderList = [],
  sent: Partial<SentCommand> = {},
): GatewayError {
  const answer = runtimeAnswer(status, headers, text);
  const error = interpretAnswer({ ...SENT, ...sent }, answer);
  if (!(error instanceof GatewayError)) throw new Error('it was accepted');
  return error;
}
