import { describe, expect, it } from '@jest/globals';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { expectAnswers, sharingGateway } from './sharing-gateway.ts';

type Headers = Record<string, string | string[]>;
const OTHER_KEY = 'another-api-key-0123456789';

describe('two live reads', () => {
  const sharing = sharingGateway(true, {
    GATEWAY_API_KEYS: `${API_KEY},${OTHER_KEY}`,
    GATEWAY_SYNC_SECRET: 'sync-secret',
    GATEWAY_HISTORY_TOKEN: 'history-token',
  });

  /** How many requests two reads make that are parked at the same time; both are answered. */
  async function requestsOf(
    first: { target: string; headers?: Headers },
    second: { target: string; headers?: Headers },
    name: string,
  ): Promise<number> {
    const readers = [first, second].map(({ target, headers }) => sharing.read(target, { headers }));
    await sharing.takenIn();
    const requests = sharing.upstream.at(name);
    const count = requests.all.length;
    requests.each((request) => request.answer(200, {}, request.target));
    for (const reader of readers) expect((await reader.ended).status).toBe(200);
    return count;
  }
  const requestsWith = (first: Headers, second: Headers): Promise<number> => {
    const name = sharing.newName();
    const target = `/streams/t/${name}?offset=1_1&live=long-poll`;
    return requestsOf({ target, headers: first }, { target, headers: second }, name);
  };

  it.each<[string, Headers, Headers]>([
    ['User-Agent', { 'user-agent': 'a/1' }, { 'user-agent': 'b/2' }],
    ['Origin', { origin: 'https://a.example' }, { origin: 'https://b.example' }],
    ['Referer', { referer: 'https://a.example/1' }, {}],
    ['Accept-Language', { 'accept-language': 'de' }, { 'accept-language': 'fr' }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'cross-site' }],
    ['Sec-CH-UA', { 'sec-ch-ua': '"A";v="1"' }, { 'sec-ch-ua': '"B";v="2"' }],
    ['X-Request-Id', { 'x-request-id': 'a' }, { 'x-request-id': 'b' }],
    ['traceparent', { traceparent: trace('a') }, { traceparent: trace('b') }],
    ['tracestate', { tracestate: 'a=1' }, { tracestate: 'b=2' }],
    ['Priority', { priority: 'u=1' }, { priority: 'u=3' }],
    ['DNT', { dnt: '1' }, {}],
    ['a cookie, which is not sent on', { cookie: 'a=1' }, { cookie: 'b=2' }],
    ['X-Forwarded-For', { 'x-forwarded-for': '10.0.0.1' }, { 'x-forwarded-for': '10.0.0.2' }],
    ['API keys', {}, { authorization: `Bearer ${OTHER_KEY}` }],
    ['Cache-Control', { 'cache-control': 'no-cache' }, {}],
    ['a header that nobody knows', { 'x-own': '1' }, { 'x-own': '2' }],
    ['a header of 12 kB', { 'sec-long': 'x'.repeat(12_000) }, {}],
    [
      'what Connection names',
      { connection: 'close, x-own', 'x-own': 'a' },
      { connection: 'close, x-own', 'x-own': 'b' },
    ],
  ])('that differ in %s only are one upstream request', async (_, first, second) => {
    expect(await requestsWith(first, second)).toBe(1);
  });

  it('with a read token and with an API key are one on a stream', async () => {
    const token = await mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds: 60 });
    expect(await requestsWith({}, { authorization: `Bearer ${token}` })).toBe(1);
  });

  it.each<[string, Headers, Headers]>([
    ['Accept', { accept: 'text/event-stream' }, { accept: 'application/json' }],
    ['Accept, given or not', { accept: '*/*' }, {}],
    ['Accept-Encoding', { 'accept-encoding': 'gzip' }, { 'accept-encoding': 'br' }],
    ['If-None-Match', { 'if-none-match': '"1"' }, { 'if-none-match': '"2"' }],
    ['If-None-Match, given or not', { 'if-none-match': '"1"' }, {}],
    ['If-Modified-Since', { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' }, {}],
    ['Range', { range: 'bytes=0-1' }, { range: 'bytes=2-3' }],
    ['Last-Event-ID', { 'last-event-id': '1' }, { 'last-event-id': '2' }],
    ['a header of the protocol’s own', { 'stream-cursor': '1' }, { 'stream-cursor': '2' }],
    ['the case of a value', { 'if-x': 'a' }, { 'if-x': 'A' }],
    ['one value of two', { 'stream-x': ['a', 'b'] }, { 'stream-x': ['a', 'c'] }],
    ['the order of values', { 'stream-x': ['a', 'b'] }, { 'stream-x': ['b', 'a'] }],
    ['what a value was put into', { 'if-a': 'v', 'if-b': 'w' }, { 'if-a': 'w', 'if-b': 'v' }],
    ['where a value ends', { 'if-a': 'v', 'if-b': 'if-c' }, { 'if-a': 'vif-b', 'if-c': '' }],
    [
      'a header that one names in Connection',
      { 'electric-x': 'a' },
      { connection: 'close, electric-x', 'electric-x': 'a' },
    ],
  ])('that differ in %s are two', async (_, first, second) => {
    expect(await requestsWith(first, second)).toBe(2);
  });

  it.each([
    ['the offset', '?offset=1_1&live=long-poll', '?offset=1_2&live=long-poll'],
    ['the order of the query', '?offset=1_1&live=long-poll', '?live=long-poll&offset=1_1'],
    ['the spelling of the query', '?offset=1_1&live=long-poll', '?offset=1%5f1&live=long-poll'],
    ['a parameter that nobody knows', '?offset=1_1&live=long-poll', '?offset=1_1&live=long-poll&x'],
    ['the path', '?offset=1_1&live=long-poll', '/?offset=1_1&live=long-poll'],
    ['the spelling of the path', 'a?offset=1_1&live=long-poll', '%61?offset=1_1&live=long-poll'],
  ])('that differ in %s are two', async (_, first, second) => {
    const name = sharing.newName();
    const path = `/streams/t/${name}`;
    expect(await requestsOf({ target: path + first }, { target: path + second }, name)).toBe(2);
  });

  // After a rotation 60 readers made 310 of 462 requests with a random cache-buster each.
  it.each([
    ['/streams/t/NAME?offset=1&live=long-poll&cursor=', '', '123456789012345'],
    ['/streams/t/NAME?cursor=', '1&live=sse', '2&live=sse'],
    ['/shapes/v1/shape?handle=NAME&live=true&cursor=', '7', '8'],
    ['/shapes/v1/shape?handle=NAME&live=true&cache-buster=', 'a-1', 'Z'.repeat(64)],
  ])('of %s that differ in what is there against caches, %j and %j, are one', async (...parts) => {
    const name = sharing.newName();
    const [start, first, second] = parts.map((part) => part.replace('NAME', name));
    const plain = first === '' ? start!.replace(/&cursor=$/, '') : start! + first;
    expect(await requestsOf({ target: plain }, { target: start! + second }, name)).toBe(1);
  });

  // A store that reads a cursor as a number would refuse it, for all who joined.
  it.each([
    ['/streams/t/NAME?live=long-poll&cursor=', '1', 'x'],
    ['/streams/t/NAME?live=long-poll&cursor=', '1', '1234567890123456'],
    ['/streams/t/NAME?live=long-poll&cursor=', '1', '1&cursor=x'],
    ['/streams/t/NAME?live=long-poll&cursor=', '1', ''],
    ['/streams/t/NAME?live=long-poll&cache-buster=', 'a', 'b'],
    ['/shapes/v1/shape?handle=NAME&live=true&cache-buster=', 'a', 'b%20'],
    ['/shapes/v1/shape?handle=NAME&live=true&cache-buster=', 'a', 'z'.repeat(65)],
  ])(
    'of %s that differ in it in another form, %j and %j, are two',
    async (start, first, second) => {
      const name = sharing.newName();
      const target = start.replace('NAME', name);
      expect(await requestsOf({ target: target + first }, { target: target + second }, name)).toBe(
        2,
      );
    },
  );

  it('that differ in a secret of the client’s own, which is not sent on, are one', async () => {
    const name = sharing.newName();
    const target = `/shapes/v1/shape?table=entities&offset=1_0&handle=${name}&live=true`;
    const reads = ['mine', 'yours'].map((secret) => ({ target: `${target}&secret=${secret}` }));
    expect(await requestsOf(reads[0] ?? { target }, reads[1] ?? { target }, name)).toBe(1);
    const [request] = sharing.upstream.at(name).all;
    expect(request?.target.match(/secret=[^&]*/g)).toEqual(['secret=sync-secret']);
  });

  it('with the same path, one a stream and one a shape, are two', async () => {
    const name = sharing.newName();
    const streams = sharing.read(`/streams/${name}?offset=1_1&live=long-poll`);
    const shapes = sharing.read(`/shapes/v1/stream/${name}?offset=1_1&live=long-poll`);
    await sharing.takenIn();
    const requests = sharing.upstream.at(name);
    const [withToken, withSecret] = requests.all;
    expect(requests.all.length).toBe(2);
    withToken?.answer(200, {}, withToken.request.headers.authorization);
    withSecret?.answer(200, {}, String(withSecret.request.headers.authorization));
    await expectAnswers([streams], 200, 'Bearer history-token');
    await expectAnswers([shapes], 200, 'undefined');
  });
});

function trace(digit: string): string {
  return `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
}
