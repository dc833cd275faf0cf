import { describe, expect, it } from '@jest/globals';
import { upstreamsWith } from '../../../test/support/upstreams.ts';
import { ReadHead } from './read-head.ts';

const RULES = {
  upstream: upstreamsWith().history,
  requestTarget: '/v1/stream/x',
  publicBaseUrl: 'http://gateway.test',
  varyNames: ['Authorization'],
  secretBytes: undefined,
};

function headOf(...raw: string[]): ReadHead {
  return new ReadHead(200, raw);
}

describe('ReadHead', () => {
  it('gives the lines of a header as one value', () => {
    const head = headOf('Vary', 'Accept', 'ETag', '"1"', 'vary', 'Origin');
    expect(head.header('vary')).toBe('Accept, Origin');
    expect(head.header('etag')).toBe('"1"');
    expect(head.header('location')).toBeUndefined();
  });

  // An event stream whose `Content-Encoding` came in two lines was answered 502.
  it('tells an encoded event stream in however many lines it says so', () => {
    const twice = headOf('Content-Encoding', 'identity', 'Content-Encoding', 'gzip');
    expect(twice.isEncoded).toBe(true);
    expect(headOf('content-encoding', 'br').isEncoded).toBe(true);
    expect(headOf('content-encoding', 'identity').isEncoded).toBe(false);
    expect(headOf().isEncoded).toBe(false);
    const types = headOf('content-type', 'text/event-stream', 'content-type', 'x/y');
    expect(types.isEventStream).toBe(true);
  });

  it('passes each line of a header on, and its name as it came', () => {
    const headers = headOf('Link', '<a>', 'link', '<b>').headersFor(RULES);
    expect(headers.slice(0, 4)).toEqual(['Link', '<a>', 'link', '<b>']);
  });

  it('gives all readers the same headers, a Location too', () => {
    const moved = headOf('etag', '"1"', 'Location', '/v1/stream/y');
    expect(moved.headersFor(RULES)).toContain('http://gateway.test/streams/y');
    expect(moved.headersFor({ ...RULES })).toBe(moved.headersFor(RULES));
  });

  it.each([
    ['*', true],
    ['Accept, *', true],
    ['User-Agent', false],
    ['Origin', false],
    ['', false],
  ])('is for one reader if it varies by more than headers: %j', (vary, isForOne) => {
    expect(headOf('Vary', vary).isForOne).toBe(isForOne);
    expect(headOf().isForOne).toBe(false);
  });

  it('knows whether the response declares its length', () => {
    expect(headOf('Content-Length', '12').hasLength).toBe(true);
    expect(headOf().hasLength).toBe(false);
  });
});
