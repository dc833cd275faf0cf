import { describe, expect, it, jest } from '@jest/globals';
import { upstreamsWith } from '../../../test/support/upstreams.ts';
import { RequestContext } from '../../platform/server/request-context.ts';
import type { AnswerHandler } from '../upstream/exchange.ts';
import type { ReadUpstream } from '../upstream/upstream.ts';
import { ProxyCall, type ReadCall } from './proxy-call.ts';
import { keyOf } from './read-sharing.ts';

interface CallParts {
  upstream: ReadUpstream;
  method: 'GET' | 'HEAD';
  target: string;
  rawHeaders: string[];
  context: RequestContext;
}

const { history, sync } = upstreamsWith({ GATEWAY_HISTORY_TOKEN: 'of-history' });
const ACCEPT = ['Accept', '*/*'];

function callWith({
  upstream = history,
  method = 'GET',
  target = '/v1/stream/t/x?offset=-1',
  rawHeaders = ACCEPT,
  context = new RequestContext('r1', '/streams/t/x', '?offset=-1'),
}: Partial<CallParts> = {}): ReadCall {
  return new ProxyCall(upstream, target, { method, rawHeaders }, context);
}

describe('the key of a read', () => {
  it.each<[string, Partial<CallParts>]>([
    ['upstream', { upstream: sync }],
    ['method', { method: 'HEAD' }],
    ['path', { target: '/v1/stream/t/y?offset=-1' }],
    ['query', { target: '/v1/stream/t/x?offset=0' }],
    ['order of the query', { target: '/v1/stream/t/x?live=sse&offset=-1' }],
    ['a header more', { rawHeaders: [...ACCEPT, 'if-none-match', '"1"'] }],
    ['a header less', { rawHeaders: [] }],
    ["a header's value", { rawHeaders: ['accept', 'text/plain'] }],
    ['a header given twice', { rawHeaders: [...ACCEPT, ...ACCEPT] }],
    ['a header that nobody knows', { rawHeaders: [...ACCEPT, 'Stream-Mode', '1'] }],
    ['a cursor that is no number', { target: '/v1/stream/t/x?offset=-1&cursor=one' }],
  ])('differs by %s', (_what, more) => {
    expect(keyOf(callWith(more))).not.toBe(keyOf(callWith()));
  });

  // The headers of the first reader went upstream. With many or long ones 19 of 40 readers got 431.
  it('is the same whoever asks, from where, by which id and with which cursor', () => {
    const rawHeaders = Object.entries({
      'User-Agent': 'curl',
      Origin: 'https://app.example',
      Referer: 'https://app.example/x',
      'Accept-Language': 'de',
      'Sec-Fetch-Mode': 'cors',
      'X-Request-Id': 'another',
      'X-Mode': '1',
      Authorization: 'Bearer another',
      traceparent: '00-1-2-01',
      accept: '*/*',
    }).flat();
    const target = '/v1/stream/t/x?offset=-1&cursor=17';
    const context = new RequestContext('r2', '/streams/t/x', '');
    expect(keyOf(callWith({ rawHeaders, target, context }))).toBe(keyOf(callWith()));
  });

  it('is the same for no two lists of headers that differ', () => {
    const two = callWith({ rawHeaders: ['stream-a', 'x', 'stream-b', 'y'] });
    const twice = callWith({ rawHeaders: ['stream-a', 'x', 'stream-a', 'b:y'] });
    expect(keyOf(two)).not.toBe(keyOf(twice));
  });
});

describe('a read that is sent', () => {
  it.each([
    [undefined, 15_000],
    ['long-poll', 90_000],
  ] as const)(
    'carries what is in its key, and nothing else of its client (live: %s)',
    (live, ms) => {
      const exchange = jest.spyOn(history, 'exchange').mockReturnValue(undefined as never);
      const rawHeaders = ['Range', 'bytes=0-', 'Cookie', 'c', 'User-Agent', 'curl'];
      const call = callWith({ rawHeaders });
      call.context.live = live;
      const handler = {} as AnswerHandler;
      call.send(handler);
      expect(exchange.mock.lastCall).toEqual([
        {
          method: 'GET',
          target: '/v1/stream/t/x?offset=-1',
          headers: [
            'range',
            'bytes=0-',
            'host',
            'localhost:4437',
            'x-request-id',
            'r1',
            'authorization',
            'Bearer of-history',
          ],
          context: call.context,
          timeoutMs: ms,
          isLive: live !== undefined,
          isRepeatable: true,
        },
        handler,
      ]);
      exchange.mockRestore();
    },
  );
});
