import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { upstreamsWith } from '../../test/support/upstreams.ts';
import type { RuntimeApi } from '../platform/config/environment.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { interpretAnswer, type SentCommand } from './runtime-answer.ts';

const SENT: SentCommand = {
  upstream: upstreamsWith().runtimeIngress,
  api: 'classic',
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
    expect(interpretAnswer(SENT, { status: 202, headers: {}, text })).toEqual({
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
    expect(failure(202, text, { 'transfer-encoding': 'gzip' })).toMatchObject({
      code: 'upstream_invalid_response',
    });
  });

  it('takes a 413 for its own limit', () => {
    expect(failure(413)).toMatchObject({ code: 'body_too_large', reason: 'runtime' });
  });

  it.each([400, 405, 408, 409, 415, 422])('hands on the reason of %d', (status) => {
    expect(failure(status, '{"message":"no such field"}')).toMatchObject({
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
      const { code, message: detail } = failure(status, JSON.stringify({ message }), {}, api);
      expect(code).toBe(status === 404 ? 'entity_type_not_registered' : 'runtime_rejected');
      expect(detail).toMatch(says);
    },
  );

  it.each(['', '<html>', '{"message":7}', '{"message":""}', 'null'])(
    'does without the reason where a 400 gives none, as in %j',
    (text) => {
      expect(failure(400, text).message).toBe(
        'The runtime rejected the command: it gave no reason.',
      );
    },
  );

  it('cuts a reason of more than 1,000 characters', () => {
    const { message } = failure(400, JSON.stringify({ message: 'x'.repeat(5_000) }));
    expect(message).toBe(`The runtime rejected the command: ${'x'.repeat(1_000)}`);
  });

  it.each([
    [{ 'retry-after': '17' }, '17'],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'Wed, 21 Oct 2026 07:28:00 GMT'],
    [{}, '1'],
    [{ 'retry-after': '' }, '1'],
    [{ 'retry-after': '0' }, '0'],
    [{ 'retry-after': ['1', '2'] }, '1'],
  ])('answers 429 of %j with Retry-After %j', (headers, retryAfter) => {
    expect(failure(429, '', headers)).toMatchObject({
      code: 'rate_limited',
      reason: 'runtime',
      status: 429,
      headers: { 'Retry-After': retryAfter },
    });
  });
});

function failure(
  status: number,
  text = '',
  headers = {},
  api: RuntimeApi = 'classic',
): GatewayError {
  const answer = { status, headers, text };
  const error = thrown(GatewayError, () => interpretAnswer({ ...SENT, api }, answer));
  if (!error) throw new Error('nothing was thrown');
  return error;
}
