import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { headerObject } from '../../platform/http/header-list.ts';
import { upstreamRequestHeaders } from './request-headers.ts';
import { clientResponseHeaders } from './response-headers.ts';
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import type { ReadUpstream } from '../upstream/upstreams.ts';

const UPSTREAM = {
  name: 'history',
  prefix: '/streams',
  base: new URL('http://history.test:4437/v1/stream'),
  basePath: '/v1/stream',
  authorization: 'Bearer upstream-token',
  protocol: durableStreams,
  isRead: true,
} as ReadUpstream;

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-authenticate',
  'proxy-authorization',
];
const CREDENTIALS = ['authorization', 'cookie'];
const CLAIMS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-whatever', 'host'];
const ANSWER_ONLY = [
  'server',
  'x-powered-by',
  'set-cookie',
  'set-cookie2',
  'electric-server',
  'surrogate-control',
  'access-control-allow-origin',
  'x-accel-redirect',
  'x-accel-expires',
  'x-sendfile',
  'x-litespeed-location',
];
const PLAIN = ['accept', 'content-type', 'if-none-match', 'producer-seq', 'x-own', '__proto__'];

const letterCase = (name: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((upper) => name.replace(/./g, (c, i: number) => (upper[i] ? c.toUpperCase() : c)));
const name = fc
  .constantFrom(...HOP_BY_HOP, ...CREDENTIALS, ...CLAIMS, ...ANSWER_ONLY, ...PLAIN)
  .chain(letterCase);
const value = fc.string({ unit: 'grapheme-ascii', maxLength: 8 });
const option = fc.oneof(name, fc.constantFrom('close', 'keep-alive', '', ' '));
const header = fc.oneof(
  fc.tuple(name, value),
  fc.tuple(
    fc.constant('Connection'),
    fc.array(option, { maxLength: 4 }).map((options) => options.join(' , ')),
  ),
);
const rawHeaders = fc.array(header, { maxLength: 12 }).map((headers) => headers.flat());

/** The headers that a message's own `Connection` takes out. */
function nominated(raw: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.toLowerCase() !== 'connection') continue;
    for (const part of (raw[i + 1] ?? '').split(',')) names.add(part.trim().toLowerCase());
  }
  return names;
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [
    (raw[2 * i] ?? '').toLowerCase(),
    raw[2 * i + 1] ?? '',
  ]);
}

describe('the headers toward an upstream', () => {
  it('never hold what concerns the connection, a credential or a claim of the client’s, in any spelling', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const headers = headerObject(upstreamRequestHeaders(raw, UPSTREAM, 'request-1'));
        const names = Object.keys(headers);
        expect(names).toEqual(names.map((own) => own.toLowerCase()));
        for (const forbidden of [...HOP_BY_HOP, 'cookie', 'forwarded']) {
          expect(names).not.toContain(forbidden);
        }
        expect(names.filter((own) => own.startsWith('x-forwarded-'))).toEqual([]);
        expect(headers['authorization']).toBe('Bearer upstream-token');
        expect(headers['host']).toBe('history.test:4437');
        expect(headers['x-request-id']).toBe('request-1');
      }),
      { numRuns: 500 },
    );
  });

  it('hold everything else, in its order, as it came', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const headers = headerObject(upstreamRequestHeaders(raw, UPSTREAM, 'request-1'));
        const taken = nominated(raw);
        for (const plain of [...PLAIN, ...ANSWER_ONLY]) {
          const sent = pairs(raw).flatMap(([own, text]) => (own === plain ? [text] : []));
          const expected = taken.has(plain) ? [] : sent;
          expect([headers[plain] ?? []].flat()).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });
});

const PRIVATE = /\b(?:private|no-store)\b/;

describe('the headers toward a client', () => {
  const rules = {
    upstream: UPSTREAM,
    requestTarget: '/v1/stream/a',
    status: 200,
    publicBaseUrl: 'http://gateway.test',
    varyNames: ['Authorization'],
    secretBytes: undefined,
  };

  it('never hold what concerns the upstream’s connection, its cookies or its CORS, and always say private', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const headers = clientResponseHeaders(raw, rules);
        const names = pairs(headers).map(([own]) => own);
        for (const forbidden of [...HOP_BY_HOP, ...ANSWER_ONLY]) {
          expect(names).not.toContain(forbidden);
        }
        const only = (own: string) => pairs(headers).filter(([other]) => other === own);
        expect(only('cache-control')).toEqual([
          [expect.anything(), expect.stringMatching(PRIVATE)],
        ]);
        expect(only('vary')).toEqual([
          [expect.anything(), expect.stringMatching(/Authorization|\*/)],
        ]);
      }),
      { numRuns: 500 },
    );
  });

  it('hold everything else as it came', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const headers = clientResponseHeaders(raw, rules);
        const taken = nominated(raw);
        for (const plain of PLAIN) {
          const sent = pairs(raw).flatMap(([own, text]) => (own === plain ? [text] : []));
          const got = pairs(headers).flatMap(([own, text]) => (own === plain ? [text] : []));
          expect(got).toEqual(taken.has(plain) ? [] : sent);
        }
      }),
      { numRuns: 500 },
    );
  });
});
