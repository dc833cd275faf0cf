import { join } from 'node:path';
import {
  FetchError,
  isChangeMessage,
  isControlMessage,
  Shape,
  ShapeStream,
} from '@electric-sql/client';
import type { Row } from '@electric-sql/client';
import { afterEach, describe, expect, it } from '@jest/globals';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import '../../local/catalog/unref-client-timers.ts';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { ReadToken } from '../support/read-token.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { newFolder } from '../support/new-folder.ts';
import { watchedFetch } from '../support/watched-fetch.ts';

const SHAPE = '/shapes/v1/shape';
const FAST_BACKOFF = { initialDelay: 10, maxDelay: 50, multiplier: 1 };

const folder = forAllTests(newFolder);
let catalog: Catalog;
const startOwnCatalog = async (port = 0): Promise<void> => {
  catalog = await startCatalog({ port, databasePath: join(folder.path, 'catalog.sqlite') });
};
forAllTests(async () => {
  await startOwnCatalog();
  return { stop: () => catalog.stop() };
});
const proxy = forAllTests(() => startCuttingProxy(catalog.url));
const gateway = forAllTests(() => startTestGateway({ GATEWAY_SYNC_URL: proxy.url }));

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

let types = 0;

/** An entity type for one test alone, so that no test sees the rows of another. */
function newType() {
  const type = `type-${types++}`;
  const put = (id: string, values: Record<string, string> = {}) =>
    putEntity(catalog, entity(`${type}-${id}`, { type, id, tenant: 'default', ...values }));
  return { type, put };
}

type Seen = ['insert' | 'update' | 'delete', Partial<Row>] | ['must-refetch'];

interface Following {
  table?: string;
  type?: string;
  prefix?: string;
  ttlSeconds?: number;
}

/** Follows a shape as `docs/browser.md` says, with the unmodified client, and records every message. */
function follow({ table = 'entities', type, prefix = SHAPE, ttlSeconds = 60 }: Following) {
  const seen: Seen[] = [];
  const watched = watchedFetch();
  const stopping = new AbortController();
  let minted = 0;
  const token = new ReadToken(async () => {
    minted += 1;
    return { token: await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds }), ttlSeconds };
  }, 0);
  const stream = new ShapeStream({
    url: `${gateway.url}${SHAPE}`,
    params: { table, ...(type && { where: 'type = $1', params: { 1: type } }) },
    headers: { Authorization: () => token.authorization() },
    signal: stopping.signal,
    fetchClient: watched.fetch,
    backoffOptions: FAST_BACKOFF,
    onError: (error) => {
      if (error instanceof FetchError && error.status === 403) return;
      token.drop();
      // Any object means: continue from the last offset. Without one the client stops for good.
      return {};
    },
  });
  const shape = new Shape(stream);
  const stopped = new Promise<Error>((resolve) => {
    stream.subscribe((messages) => {
      for (const message of messages) {
        if (isChangeMessage(message)) {
          const { id, status } = message.value;
          seen.push([message.headers.operation, { ...(id && { id }), status }]);
        } else if (isControlMessage(message) && message.headers.control === 'must-refetch') {
          seen.push(['must-refetch']);
        }
      }
    }, resolve);
  });
  stops.push(() => stopping.abort());
  return {
    seen,
    watched,
    stopped,
    minted: () => minted,
    /** Fulfils once the rows are those with these ids. */
    untilIds: (...wanted: string[]) =>
      new Promise<void>((resolve) => {
        const check = () => {
          const ids = shape.currentRows.map(({ id }) => id as string).toSorted();
          if (ids.join() !== wanted.join()) return;
          unsubscribe();
          resolve();
        };
        const unsubscribe = shape.subscribe(check);
        check();
      }),
  };
}

describe('the Electric client', () => {
  it('catches up, goes live and outlives its tokens, with every change once', async () => {
    const { type, put } = newType();
    await put('a');

    const { seen, watched, minted, untilIds } = follow({ type, ttlSeconds: 0.6 });
    await untilIds('a');
    await put('b');
    await untilIds('a', 'b');
    for (const id of ['c', 'd']) {
      await watched.next(({ status }) => status === 401);
      await put('a', { status: `before-${id}` });
      await put(id);
      await untilIds(...['a', 'b', 'c', 'd'].slice(0, id === 'c' ? 3 : 4));
    }

    expect(seen).toEqual([
      ['insert', { id: 'a', status: 'idle' }],
      ['insert', { id: 'b', status: 'idle' }],
      ['update', { status: 'before-c' }],
      ['insert', { id: 'c', status: 'idle' }],
      ['update', { status: 'before-d' }],
      ['insert', { id: 'd', status: 'idle' }],
    ]);
    expect(minted()).toBeGreaterThanOrEqual(3);
  });

  it('sees the rows of its tenant only', async () => {
    const { type, put } = newType();
    await put('mine');
    await put('theirs', { tenant: 'acme' });

    const { seen, untilIds } = follow({ type });
    await untilIds('mine');
    await put('later');
    await untilIds('later', 'mine');

    expect(seen.map(([, row]) => row?.id)).toEqual(['mine', 'later']);
  });

  it('asks again by itself while the gateway answers 502, and continues where it was', async () => {
    const { type, put } = newType();
    await put('a');
    const { seen, watched, untilIds } = follow({ type });
    await untilIds('a');

    const failed = watched.next(({ status }) => status === 502);
    proxy.refuse();
    await failed;
    await put('b');
    proxy.restore();
    await untilIds('a', 'b');

    expect(seen).toEqual([
      ['insert', { id: 'a', status: 'idle' }],
      ['insert', { id: 'b', status: 'idle' }],
    ]);
  });

  it('takes an answer that breaks off for no whole one, and asks for it again', async () => {
    const { type, put } = newType();
    const names = Array.from({ length: 60 }, (_, i) => `n${String(i).padStart(2, '0')}`);
    for (const name of names) await put(name);
    const cut = proxy.cutAfter(2_000);

    const { seen, watched, untilIds } = follow({ type });
    await cut;
    await untilIds(...names);

    expect(seen.map(([, row]) => row?.id)).toEqual(names);
    expect(watched.statuses().slice(0, 2)).toEqual([200, 200]);
  });

  it('fetches all again after a 409, and continues', async () => {
    const { type, put } = newType();
    await put('a');
    const { seen, watched, untilIds } = follow({ type });
    await untilIds('a');

    catalog.rotate();
    await put('b');
    await untilIds('a', 'b');
    await put('c');
    await untilIds('a', 'b', 'c');

    expect(seen).toEqual([
      ['insert', { id: 'a', status: 'idle' }],
      ['must-refetch'],
      ['insert', { id: 'a', status: 'idle' }],
      ['insert', { id: 'b', status: 'idle' }],
      ['insert', { id: 'c', status: 'idle' }],
    ]);
    expect(watched.statuses().filter((status) => status === 409)).toHaveLength(1);
  });

  it('has all rows, the new one too, after a restart of the sync engine', async () => {
    const { type, put } = newType();
    await put('a');
    const { watched, untilIds } = follow({ type });
    await untilIds('a');

    const failed = watched.next(({ status }) => status === 502);
    await catalog.stop();
    await failed;
    await startOwnCatalog(Number(new URL(catalog.url).port));
    await put('b');
    await untilIds('a', 'b');

    expect(watched.statuses().filter((status) => status === 409)).toHaveLength(1);
  });

  it.each([
    ['a table that tokens may not read', { table: 'notes' }, 'table_not_allowed'],
    ['a token for something else', { prefix: '/streams/t/default' }, 'prefix_not_covered'],
  ])('stops for good at the 403 of %s, after one request', async (_, following, code) => {
    const { stopped, watched, minted } = follow(following);

    const error = (await stopped) as FetchError;
    // The client parses `application/json` only: the problem is in `text`.
    expect([
      error.status,
      error.json,
      (JSON.parse(error.text ?? '') as { code: string }).code,
    ]).toEqual([403, undefined, code]);
    expect(watched.statuses()).toEqual([403]);
    expect(minted()).toBe(1);
  });
});
