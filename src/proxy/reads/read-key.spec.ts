import { describe, expect, it } from '@jest/globals';
import { upstreamsWith } from '../../../test/support/upstreams.ts';
import { dependsOnReader, readKey } from './read-key.ts';

type KeyParts = Parameters<typeof readKey>[0];

const upstreams = upstreamsWith();

function callWith(more: Partial<KeyParts> = {}): KeyParts {
  return {
    upstream: upstreams.history,
    method: 'GET',
    target: '/v1/stream/t/x?offset=-1',
    headers: ['accept', '*/*'],
    ...more,
  };
}

describe('readKey', () => {
  it.each([
    ['upstream', { upstream: upstreams.sync }],
    ['method', { method: 'HEAD' as const }],
    ['path', { target: '/v1/stream/t/y?offset=-1' }],
    ['query', { target: '/v1/stream/t/x?offset=0' }],
    ['order of the query', { target: '/v1/stream/t/x?live=sse&offset=-1' }],
    ['a header more', { headers: ['accept', '*/*', 'if-none-match', '"1"'] }],
    ['a header less', { headers: [] }],
    ["a header's value", { headers: ['accept', 'text/plain'] }],
    ['a header given twice', { headers: ['accept', '*/*', 'accept', '*/*'] }],
    ['a header that nobody knows', { headers: ['accept', '*/*', 'x-mode', '1'] }],
  ])('differs by %s', (_what, more) => {
    expect(readKey(callWith(more))).not.toBe(readKey(callWith()));
  });

  it('is the same whoever asks, from where, and by which id', () => {
    const headers = Object.entries({
      'user-agent': 'curl',
      origin: 'https://app.example',
      referer: 'https://app.example/x',
      'accept-language': 'de',
      'sec-fetch-mode': 'cors',
      'x-request-id': 'another',
      traceparent: '00-1-2-01',
      accept: '*/*',
    }).flat();
    expect(readKey(callWith({ headers }))).toBe(readKey(callWith()));
  });

  it('is the same for no two lists of headers that differ', () => {
    const joined = callWith({ headers: ['a', 'x', 'b', 'y'] });
    const nested = callWith({ headers: ['a', 'x', 'a', 'b:y'] });
    expect(readKey(joined)).not.toBe(readKey(nested));
  });
});

describe('dependsOnReader', () => {
  it.each(['*', 'User-Agent', 'accept, ACCEPT-LANGUAGE', 'Sec-CH-UA', 'accept, dnt'])(
    'holds for Vary: %s',
    (vary) => {
      expect(dependsOnReader(vary)).toBe(true);
    },
  );

  it.each([undefined, '', 'Origin', 'Accept, Accept-Encoding', 'Authorization'])(
    'does not hold for Vary: %s',
    (vary) => {
      expect(dependsOnReader(vary)).toBe(false);
    },
  );
});
