import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  and,
  createCollection,
  createLiveQueryCollection,
  eq,
  gt,
  gte,
  ilike,
  inArray,
  isNull,
  like,
  lt,
  lte,
  not,
  or,
} from '@tanstack/db';
import { electricCollectionOptions } from '@tanstack/electric-db-collection';
import '../../local/catalog/unref-client-timers.ts';
import { READ_TOKEN_SECRET } from '../support/gateway.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';

const SHAPE = '/shapes/v1/shape';
const HEADERS = {
  'content-type': 'application/json',
  'electric-handle': 'h-1',
  'electric-offset': '0_0',
  'electric-schema': '{"id":{"type":"text"}}',
  'electric-up-to-date': '',
};
const SNAPSHOT = JSON.stringify({
  metadata: { snapshot_mark: 1, xmin: '1', xmax: '2', xip_list: [], database_lsn: '0' },
  data: [],
});

const UP_TO_DATE = '[{"headers":{"control":"up-to-date"}}]';

type Row = { id: string; type: string; n: number; done: boolean; made: Date; parent: string };

const { gateway, upstream: engine } = scriptedGateway((request, response) => {
  const isSubset = request.url?.includes('subset__');
  // A live read stays parked, like the one of an engine in which nothing happens.
  if (!isSubset && request.url?.includes('live=true')) return;
  response.writeHead(200, HEADERS).end(isSubset ? SNAPSHOT : UP_TO_DATE);
});
let token: string;
beforeAll(async () => {
  token = await mintReadToken(READ_TOKEN_SECRET, { prefix: SHAPE, ttlSeconds: 60 });
});

/** One for each query: the client takes many subsets in a short time for a loop. */
function collection(signal: AbortSignal) {
  const options = electricCollectionOptions({
    id: 'entities',
    syncMode: 'on-demand',
    getKey: (row: Row) => row.id,
    shapeOptions: {
      url: `${gateway.url}${SHAPE}`,
      params: { table: 'entities' },
      headers: { Authorization: `Bearer ${token}` },
      signal,
    },
  });
  return createCollection(options);
}

/** The parameters of the subset that a live query asked for: with a filter, or of all in an order. */
async function subsetOf(filter?: Filter): Promise<[string, string][]> {
  const stop = new AbortController();
  const entities = collection(stop.signal);
  const before = engine.seen.length;
  const live = createLiveQueryCollection((q) => {
    const all = q.from({ e: entities });
    return filter
      ? all.where(({ e }) => filter(e as never) as never)
      : all.orderBy(({ e }) => e.made, 'desc');
  });
  await live.preload();
  await live.cleanup();
  await entities.cleanup();
  stop.abort();
  const target = engine.seen.slice(before).find((seen) => seen.target.includes('subset__'))?.target;
  const params = new URLSearchParams(target?.split('?')[1]);
  return [...params].filter(([name]) => name.startsWith('subset__'));
}

type Filter = (row: never) => unknown;
const row = <T>(filter: (row: Row) => T): Filter => filter as never;

describe('a collection of TanStack DB that loads on demand, with a read token', () => {
  it.each<[string, Filter, string, string]>([
    ['eq', row((e) => eq(e.type, 'chat')), '"type" = $1', '{"1":"chat"}'],
    ['eq of a boolean', row((e) => eq(e.done, true)), '"done" = $1', '{"1":"true"}'],
    ['gt', row((e) => gt(e.n, 1)), '"n" > $1', '{"1":"1"}'],
    [
      'gte',
      row((e) => gte(e.made, new Date(0))),
      '"made" >= $1',
      '{"1":"1970-01-01T00:00:00.000Z"}',
    ],
    ['lt', row((e) => lt(e.n, -2.5)), '"n" < $1', '{"1":"-2.5"}'],
    ['lte', row((e) => lte(e.n, 7)), '"n" <= $1', '{"1":"7"}'],
    ['gt of false', row((e) => gt(e.done, false)), '"done" = $1', '{"1":"true"}'],
    ['lt of false', row((e) => lt(e.done, false)), 'FALSE', '{}'],
    ['lte of true', row((e) => lte(e.done, true)), 'TRUE', '{}'],
    [
      'inArray',
      row((e) => inArray(e.id, ['a', 'b,c'])),
      '"id" = ANY($1)',
      '{"1":"{\\"a\\",\\"b,c\\"}"}',
    ],
    ['like', row((e) => like(e.id, 'a%')), '"id" LIKE $1', '{"1":"a%"}'],
    ['ilike', row((e) => ilike(e.id, 'A_')), '"id" ILIKE $1', '{"1":"A_"}'],
    ['isNull', row((e) => isNull(e.parent)), '"parent" IS NULL', '{}'],
    ['not isNull', row((e) => not(isNull(e.parent))), '"parent" IS NOT NULL', '{}'],
    ['not', row((e) => not(eq(e.id, ''))), '(NOT "id" = $1)', '{"1":""}'],
    [
      'and',
      row((e) => and(eq(e.type, 'chat'), gt(e.n, 1))),
      '("type" = $1 AND "n" > $2)',
      '{"1":"chat","2":"1"}',
    ],
    [
      'or of three',
      row((e) => or(eq(e.type, 'a'), eq(e.type, 'b'), isNull(e.parent))),
      '("type" = $1 OR "type" = $2 OR "parent" IS NULL)',
      '{"1":"a","2":"b"}',
    ],
  ])('asks by %s', async (_, filter, where, params) => {
    expect(await subsetOf(filter)).toEqual(
      expect.arrayContaining([
        ['subset__where', where],
        ['subset__params', params],
      ]),
    );
  });

  it('asks for all of it in an order', async () => {
    expect(await subsetOf()).toEqual(expect.arrayContaining([['subset__where', 'TRUE = TRUE']]));
  });
});
