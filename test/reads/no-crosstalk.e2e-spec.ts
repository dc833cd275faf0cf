import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { API_KEY, READ_TOKEN_SECRET } from '../support/credentials.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import type { HeldRequest } from './held-upstream.ts';
import { sharingGateway, type SharingGateway } from './sharing-gateway.ts';

/** The time limit of the random runs. A busy machine gets through fewer of them. */
const TIME_LIMIT_MS = 10_000;
const CREDENTIALS = 5;
const OTHER_KEY = 'another-api-key-0123456789';
/** Request headers that do not change what is read, so no response may depend on them. */
const IRRELEVANT =
  'accept-language dnt origin priority referer sec-fetch-mode traceparent tracestate user-agent'.split(
    ' ',
  );
/** Headers that each hop sets. */
const OWN = new Set([...IRRELEVANT, 'host', 'connection', 'x-request-id']);
const RELEVANT = ['accept', 'accept-encoding', 'cache-control', 'if-none-match', 'range', 'x-a'];
const DROPPED = ['cookie', 'x-forwarded-for', 'x-nominated'];

interface Read {
  path: string;
  query: string;
  headers: [name: string, value: string][];
  method: 'GET' | 'HEAD';
  /** Which of the credentials it comes with. */
  credential: number;
}

const header = fc.tuple(
  fc.constantFrom(...RELEVANT, ...IRRELEVANT, ...DROPPED),
  fc.constantFrom('a', 'b', 'a, b', '', '"a"'),
);
const PAIRS =
  'offset=1_1 offset=1_2 live=long-poll live=true live=sse live_sse=true ' +
  "secret=x secret=y where=a where=tenant='other' columns=id handle=a a=%61";
const pair = fc.constantFrom(...PAIRS.split(' '));
const read: fc.Arbitrary<Read> = fc.record({
  path: fc.constantFrom('/streams/t/a', '/streams/t/b', '/streams/t/%61', '/shapes/v1/shape'),
  query: fc
    .uniqueArray(pair, { maxLength: 3, selector: (text) => text.split('=', 1)[0] })
    .map((pairs) => pairs.join('&')),
  headers: fc.array(header, { maxLength: 2 }),
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD'),
  credential: fc.nat(CREDENTIALS - 1),
});
/** A random change of a read, which may or may not make it a different read. */
const change: fc.Arbitrary<(from: Read) => Read> = fc.oneof(
  fc.constant((from: Read) => from),
  header.map((added) => (from: Read) => ({ ...from, headers: [...from.headers, added] })),
  pair.map((added) => (from: Read) => ({ ...from, query: `${from.query}&${added}` })),
  fc.nat(CREDENTIALS - 1).map((credential) => (from: Read) => ({ ...from, credential })),
  read.map((other) => () => other),
);
/** A read and similar ones. */
const alike: fc.Arbitrary<Read[]> = fc
  .tuple(read, fc.array(change, { minLength: 1, maxLength: 7 }))
  .map(([first, changes]) => [first, ...changes.map((apply) => apply(first))]);

describe('reads that differ in what the upstream may look at', () => {
  const env = { GATEWAY_API_KEYS: `${API_KEY},${OTHER_KEY}`, GATEWAY_SYNC_SECRET: 'sync-secret' };
  const shared = sharingGateway(true, env);
  const unshared = sharingGateway(false, env);
  let credentials: string[];
  beforeAll(async () => void (credentials = [API_KEY, OTHER_KEY, ...(await tokens())]));

  it('never get an answer to what another one asked', async () => {
    await fc.assert(
      fc.asyncProperty(alike, async (reads) => {
        // What each is answered where every reader has a request of its own.
        const expected = await answersOf(unshared, reads);
        expect(await answersOf(shared, reads)).toEqual(expected);
      }),
      { numRuns: 60, interruptAfterTimeLimit: TIME_LIMIT_MS },
    );
    // Else nothing was shared that could have been mixed up.
    const [some, all] = [shared, unshared].map(({ upstream }) => upstream.at('name-').all.length);
    expect(some).toBeLessThan(all ?? 0);
  });

  /** What the upstream had got of each read that was answered, all of them under way at one time. */
  async function answersOf(sharing: SharingGateway, reads: readonly Read[]): Promise<unknown[]> {
    const name = sharing.newName();
    const readers = reads.map(({ path, query, headers, method, credential }) => {
      const separator = query === '' ? '' : '&';
      return sharing.read(`${path}?table=entities&${name}${separator}${query}`, {
        method,
        headers: [
          'Host',
          'gateway.test',
          'Connection',
          'close, x-nominated',
          'Authorization',
          `Bearer ${credentials[credential]}`,
          ...headers.flat(),
        ],
      });
    });
    await sharing.takenIn();
    sharing.upstream.at(name).each((request) => {
      request.response.setHeader('x-seen', JSON.stringify(seenBy(request, name)));
      request.response.end();
    });
    const answers = await Promise.all(readers.map((reader) => reader.ended));
    return answers.map(({ status, headers }) => [
      status,
      headers['x-seen'] && (JSON.parse(String(headers['x-seen'])) as unknown),
    ]);
  }

  async function tokens(): Promise<string[]> {
    const mint = (prefix: string[], shape?: object) =>
      mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 600, shape });
    return Promise.all([
      mint(['/streams', '/shapes']),
      mint(['/streams/t/a', '/shapes'], { table: 'entities', where: 'a' }),
      mint(['/streams/t/b', '/shapes'], { table: 'entities', columns: ['id'] }),
    ]);
  }
});

function seenBy({ request, target }: HeldRequest, name: string): object {
  const headers: Record<string, string[]> = {};
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const [header = '', value = ''] = request.rawHeaders.slice(i, i + 2);
    const lowerName = header.toLowerCase();
    if (!OWN.has(lowerName)) (headers[lowerName] ??= []).push(value);
  }
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    method: request.method,
    target: target.replace(name, ''),
    headers: sorted.map(([header, values]) => `${header}: ${values.join(', ')}`),
  };
}
