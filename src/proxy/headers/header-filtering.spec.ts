import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { HeaderList } from '../../platform/http/header-list.ts';
import { ownRequestHeaders, readHeaders, writeHeaders } from './request-headers.ts';
import { clientResponseHeaders } from './response-headers.ts';
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import type { ReadUpstream } from '../upstream/upstream.ts';

const PARTS = {
  name: 'history',
  prefix: '/streams',
  base: new URL('http://history.test:4437/v1/stream'),
  basePath: '/v1/stream',
  authorization: 'Bearer upstream-token',
  protocol: durableStreams,
  isRead: true,
};
const UPSTREAM = PARTS as unknown as ReadUpstream;

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
/** What the gateway says itself. */
const OF_GATEWAY = ['x-request-id', 'content-length', 'expect'];
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
/** Headers of a client that may decide about a read. */
const OF_READS = [
  'accept',
  'accept-encoding',
  'range',
  'last-event-id',
  'if-none-match',
  'if-anything',
  'stream-own',
  'electric-own',
];
/** Others that a reader could send to have an error for all who share its read. */
const NOT_OF_READS = [
  'content-type',
  'user-agent',
  'referer',
  'origin',
  'sec-fetch-mode',
  'accept-language',
  'producer-seq',
  'x-own',
  '__proto__',
  'ranges',
  'xif-match',
];
const PLAIN = [...OF_READS, ...NOT_OF_READS];

const letterCase = (name: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((upper) => name.replace(/./g, (c, i: number) => (upper[i] ? c.toUpperCase() : c)));
const name = fc
  .constantFrom(...HOP_BY_HOP, ...CREDENTIALS, ...CLAIMS, ...OF_GATEWAY, ...ANSWER_ONLY, ...PLAIN)
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

/** The values of a header, in their order. */
function valuesOf(headers: readonly string[], lowerName: string): string[] {
  return pairs(headers).flatMap(([own, text]) => (own === lowerName ? [text] : []));
}

describe.each<[string, (raw: readonly string[]) => HeaderList, string[]]>([
  ['read', (raw) => readHeaders(raw, UPSTREAM), [...OF_READS, 'electric-server']],
  ['write', (raw) => writeHeaders(raw, UPSTREAM), [...PLAIN, ...ANSWER_ONLY]],
])('the headers of a client that are forwarded with a %s', (_, forwarded, passing) => {
  it('never hold what concerns the connection, a credential or a claim of the client’s, in any spelling', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const names = forwarded(raw).filter((_name, i) => i % 2 === 0);
        expect(names).toEqual(names.map((own) => own.toLowerCase()));
        for (const forbidden of [...HOP_BY_HOP, ...CREDENTIALS, ...CLAIMS, ...OF_GATEWAY]) {
          expect(names).not.toContain(forbidden);
        }
        expect(names.filter((own) => !passing.includes(own))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('hold everything else, in its order, as it came', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const headers = forwarded(raw);
        const taken = nominated(raw);
        for (const plain of passing) {
          expect(valuesOf(headers, plain)).toEqual(taken.has(plain) ? [] : valuesOf(raw, plain));
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the headers of a gateway toward an upstream', () => {
  it('name the upstream, the request and its credential, if it has one', () => {
    const own = ['host', 'history.test:4437', 'x-request-id', 'request-1'];
    expect(ownRequestHeaders(UPSTREAM, 'request-1')).toEqual([
      ...own,
      'authorization',
      'Bearer upstream-token',
    ]);
    const open = { ...PARTS, authorization: undefined } as unknown as ReadUpstream;
    expect(ownRequestHeaders(open, 'request-1')).toEqual(own);
  });
});

const PRIVATE = /\b(?:private|no-store)\b/;

describe('the headers toward a client', () => {
  const rules = {
    upstream: UPSTREAM,
    requestTarget: '/v1/stream/a',
    publicBaseUrl: 'http://gateway.test',
    varyNames: ['Authorization'],
    secretBytes: undefined,
  };

  it('never hold what concerns the upstream’s connection, its cookies or its CORS, and always say private', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const headers = clientResponseHeaders(raw, 200, rules);
        const names = pairs(headers).map(([own]) => own);
        for (const forbidden of [...HOP_BY_HOP, ...ANSWER_ONLY]) {
          expect(names).not.toContain(forbidden);
        }
        expect(valuesOf(headers, 'cache-control')).toEqual([expect.stringMatching(PRIVATE)]);
        expect(valuesOf(headers, 'vary')).toEqual([expect.stringMatching(/Authorization|\*/)]);
      }),
      { numRuns: 500 },
    );
  });

  it('hold everything else as it came', () => {
    fc.assert(
      fc.property(rawHeaders, (raw) => {
        const headers = clientResponseHeaders(raw, 200, rules);
        const taken = nominated(raw);
        for (const plain of PLAIN) {
          expect(valuesOf(headers, plain)).toEqual(taken.has(plain) ? [] : valuesOf(raw, plain));
        }
      }),
      { numRuns: 500 },
    );
  });
});
