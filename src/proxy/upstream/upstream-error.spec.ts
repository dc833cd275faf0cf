import { describe, expect, it } from '@jest/globals';
import { upstreamsWith } from '../../../test/support/upstreams.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { upstreamError, type FailedRequest, type RequestFailure } from './upstream-error.ts';

const { history, sync, runtimeAdmin, runtimeIngress } = upstreamsWith();
const READ = { upstream: sync, method: 'GET', target: '/v1/shape?table=t' };
const APPEND = { upstream: history, method: 'POST', target: '/v1/stream/t/x' };
const CHANGE = { upstream: runtimeAdmin, method: 'POST', target: '/deployments' };
const COMMAND = { upstream: runtimeIngress, method: 'POST', target: '/chat/a1/wake/send' };

const LOST = new Error('reset');
const GARBLED = Object.assign(new Error('garbled'), { code: 'HPE_INVALID_CONSTANT' });
const OVERFLOW = Object.assign(new Error('long'), { code: 'HPE_HEADER_OVERFLOW' });
const UNSENT = 'The server behind this route could not be reached, so nothing was sent; try again.';
const UNREACHABLE = 'The server behind this route could not be reached; try again.';
const LATE = 'The server behind this route did not answer within 7 ms.';
const OVERSIZED = 'The server behind this route gave an answer whose head is over 65536 bytes.';
const UNUSABLE = 'The server behind this route gave an answer that cannot be used.';

function told(request: FailedRequest, failure: RequestFailure): [string, string] {
  const { code, message } = upstreamError(request, failure);
  return [code, message];
}

describe('upstreamError', () => {
  it.each<[string, RequestFailure, string, string]>([
    ['nothing was sent', { reached: 'nowhere' }, 'upstream_unreachable', UNSENT],
    ['it was lost', { reached: 'sent', cause: LOST }, 'upstream_unreachable', UNREACHABLE],
    ['it was late', { reached: 'sent', timeoutMs: 7 }, 'upstream_timeout', LATE],
    ['it was cut', { reached: 'answered' }, 'upstream_invalid_response', UNUSABLE],
    ['it was garbled', { reached: 'sent', cause: GARBLED }, 'upstream_invalid_response', UNUSABLE],
    [
      'it was too long',
      { reached: 'sent', cause: OVERFLOW },
      'upstream_invalid_response',
      OVERSIZED,
    ],
  ])('tells of a read that %s', (_, failure, code, message) => {
    expect(told(READ, failure)).toEqual([code, message]);
  });

  it.each<[string, FailedRequest, RegExp]>([
    ['append', APPEND, / answered\. The append may have been made\. .* read the stream before/],
    ['PUT', { ...APPEND, method: 'PUT' }, / answered\. The stream may have been created\. /],
    ['DELETE', { ...APPEND, method: 'DELETE' }, / answered\. The stream may have been deleted\. /],
    ['registration', CHANGE, / answered\. The change may have been made\. Look with GET /],
    ['command', COMMAND, /^The connection to the runtime .* answered; nothing is known of the co/],
  ])('says of a lost %s that it may have been made', (_, request, message) => {
    const [code, detail] = told(request, { reached: 'sent', cause: LOST });
    expect([code, detail]).toEqual(['upstream_unreachable', expect.stringMatching(message)]);
  });

  // It was told that an append may have been made, which a subscription is not.
  it.each([
    ['POST', '__ds/subscriptions/s/claim'],
    ['POST', '__ds/subscriptions/s/streams?x'],
    ['PUT', '%5f_d%73/subscriptions/s'],
    ['DELETE', '__ds/subscriptions/s'],
  ])('says of a lost %s %s what it may have changed', (method, path) => {
    const request = { ...APPEND, method, target: `/v1/stream/${path}` };
    expect(told(request, { reached: 'sent', timeoutMs: 7 })).toEqual([
      'upstream_timeout',
      `${LATE} The change may have been made. Look at the subscription with GET before you repeat it.`,
    ]);
  });

  it.each(['__dsx', 't/__ds', 't?__ds'])('takes %s for a stream', (path) => {
    const request = { ...APPEND, target: `/v1/stream/${path}` };
    expect(told(request, { reached: 'sent' })[1]).toContain('The append may have been made.');
  });

  it.each([APPEND, CHANGE, COMMAND])(
    'lets one be tried again of which nothing was sent',
    (request) => {
      const failure = { reached: 'nowhere', cause: LOST, timeoutMs: 7 } as const;
      expect(told(request, failure)).toEqual(['upstream_unreachable', UNSENT]);
    },
  );

  it.each<[RequestFailure, boolean]>([
    [{ reached: 'nowhere' }, true],
    [{ reached: 'sent' }, false],
    [{ reached: 'answered' }, false],
    [{ reached: 'answered', isRefused: true }, false],
  ])(
    'of %j says whether nothing was sent, and when to try again if that is known',
    (failure, isUnsent) => {
      expect(upstreamError(COMMAND, failure)).toMatchObject({ isUnsent, headers: {} });
      expect(upstreamError(COMMAND, { ...failure, retryAfterSeconds: 7 })).toMatchObject({
        isUnsent,
        headers: { 'Retry-After': '7' },
      });
    },
  );

  it('leaves no doubt where the upstream refused it', () => {
    const failure = { reached: 'answered', isRefused: true } as const;
    expect(told(APPEND, failure)).toEqual(['upstream_invalid_response', UNUSABLE]);
  });

  it("hands on what is the gateway's own error already", () => {
    const cause = new GatewayError('overloaded', 'Too much');
    expect(upstreamError(APPEND, { reached: 'nowhere', cause })).toBe(cause);
  });
});
