import { afterEach, describe, expect, it } from '@jest/globals';
import {
  endAll,
  entity,
  follow,
  ids,
  putEntity,
  readShape,
  rowsWhen,
  start,
} from './catalog-fixture.ts';
import type { Catalog } from './catalog-server.ts';

afterEach(endAll);

const HOUR_MS = 3_600_000;

async function handleOf(catalog: Catalog): Promise<string> {
  return (await readShape(catalog, { offset: '-1' })).headers.get('electric-handle')!;
}

/** The messages of an event stream, until it ends or `count` of them are there. */
async function eventsOf(response: Response, count = Number.POSITIVE_INFINITY): Promise<unknown[]> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk, { stream: true });
    if (text.split('\n\n').length > count) break;
  }
  const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
  return events.map((event) => JSON.parse(event.slice('data: '.length)) as unknown);
}

describe('what Electric lets caches do, and the stand-in too', () => {
  it.each<[string, Record<string, string>, string]>([
    ['a catch-up', { offset: '0_0' }, 'public, max-age=60, stale-while-revalidate=300'],
    ['a long-poll', { offset: '0_0', live: 'true' }, 'public, max-age=5, stale-while-revalidate=5'],
    ['an event stream', { offset: '0_0', live: 'true', live_sse: 'true' }, 'public, max-age=59'],
  ])('with %s', async (_, params, cacheControl) => {
    const catalog = await start({ longPollTimeoutMs: 1, sseTimeoutMs: 1 });
    const handle = await handleOf(catalog);
    const response = await readShape(catalog, { ...params, handle });

    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe(cacheControl);
    expect(response.headers.get('vary')).toBe('accept-encoding');
    await response.text();
  });

  it('answers 304 to the ETag of an answer that is the same still, and not beyond', async () => {
    const catalog = await start();
    const first = await readShape(catalog, { offset: '-1' });
    const headers = { 'if-none-match': first.headers.get('etag')! };

    expect(headers['if-none-match']).toBe(`"${first.headers.get('electric-handle')}:-1:0_0"`);
    const again = await readShape(catalog, { offset: '-1' }, { headers });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('electric-offset')).toBe('0_0');
    await putEntity(catalog, entity('a'));
    expect((await readShape(catalog, { offset: '-1' }, { headers })).status).toBe(200);
  });

  it('never gives the same ETag to a live answer that says nothing', async () => {
    const catalog = await start({ longPollTimeoutMs: 1 });
    const params = { offset: '0_0', live: 'true', handle: await handleOf(catalog) };
    const etags = [await readShape(catalog, params), await readShape(catalog, params)].map(
      ({ headers }) => headers.get('etag'),
    );

    expect(new Set(etags).size).toBe(2);
  });

  it('counts the cursor up by chance where answers come quickly', async () => {
    const catalog = await start({ longPollTimeoutMs: 1 });
    const params = { offset: '0_0', live: 'true', handle: await handleOf(catalog) };
    const cursorOf = async (): Promise<number> => {
      const { headers } = await readShape(catalog, { ...params, cursor: '1000000000' });
      return Number(headers.get('electric-cursor')) - 1_000_000_000;
    };
    const steps = await Promise.all(Array.from({ length: 30 }, cursorOf));

    expect(steps.filter((step) => step < 1 || step > 3_600)).toEqual([]);
    expect(new Set(steps).size).toBeGreaterThan(1);
  });
});

describe('an event stream of the catalog', () => {
  it('brings each change as it comes, with an up-to-date behind it, and begins with one', async () => {
    const catalog = await start();
    const params = {
      offset: '0_0',
      live: 'true',
      live_sse: 'true',
      handle: await handleOf(catalog),
    };
    const response = await readShape(catalog, params);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('electric-cursor')).not.toBeNull();
    const events = eventsOf(response, 3);
    await putEntity(catalog, entity('a'));

    expect(await events).toEqual([
      { headers: { control: 'up-to-date', global_last_seen_lsn: '0' } },
      expect.objectContaining({ value: entity('a') }),
      { headers: { control: 'up-to-date', global_last_seen_lsn: '1' } },
    ]);
  });

  it('ends at once behind what a reader lagged', async () => {
    const catalog = await start({ sseTimeoutMs: HOUR_MS });
    const handle = await handleOf(catalog);
    await putEntity(catalog, entity('a'));
    const params = { offset: '0_0', live: 'true', experimental_live_sse: 'true', handle };

    expect(await eventsOf(await readShape(catalog, params))).toHaveLength(2);
  });

  it('tells its readers to fetch again, and ends, when the shape is gone', async () => {
    const catalog = await start({ sseTimeoutMs: HOUR_MS });
    const params = {
      offset: '0_0',
      live: 'true',
      live_sse: 'true',
      handle: await handleOf(catalog),
    };
    const response = await readShape(catalog, params);
    catalog.rotate();

    expect((await eventsOf(response)).at(-1)).toEqual({ headers: { control: 'must-refetch' } });
  });

  it('is what the real client follows', async () => {
    const catalog = await start({ longPollTimeoutMs: HOUR_MS });
    await putEntity(catalog, entity('a'));
    const streams: Response[] = [];
    const streaming = Promise.withResolvers<void>();
    const followed = follow(
      catalog,
      {},
      {
        liveSse: true,
        fetchClient: async (input, init) => {
          const response = await fetch(input, init);
          if (response.headers.get('content-type') === 'text/event-stream') streams.push(response);
          if (streams.length === 1) streaming.resolve();
          return response;
        },
      },
    );
    await rowsWhen(followed, (rows) => rows.length === 1);
    await streaming.promise;
    await putEntity(catalog, entity('b'));
    expect(ids(await rowsWhen(followed, (rows) => rows.length === 2))).toEqual(['a', 'b']);
    await putEntity(catalog, entity('c'));
    expect(ids(await rowsWhen(followed, (rows) => rows.length === 3))).toEqual(['a', 'b', 'c']);

    expect(streams).toHaveLength(1);
  });
});

describe('a subset of a shape', () => {
  it('is what the real client asks for, in its order, and continues from', async () => {
    const catalog = await start({ longPollTimeoutMs: HOUR_MS });
    for (const [id, parent] of [
      ['a', '/p'],
      ['b', null],
      ['c', '/q'],
      ['d', '/p'],
    ] as const) {
      await putEntity(catalog, entity(id, { parent }));
    }
    const followed = follow(catalog, {}, { log: 'changes_only' });
    await rowsWhen(followed, () => true);
    const { data, metadata } = await followed.stream.requestSnapshot({
      where: 'id <> $1',
      params: { '1': 'd' },
      orderBy: 'parent DESC NULLS LAST, id',
      limit: 2,
    });

    expect(data.map(({ value }) => value['id'])).toEqual(['c', 'a']);
    expect(metadata).toMatchObject({ database_lsn: '4', xmin: '5', xmax: '5', xip_list: [] });
    await putEntity(catalog, entity('c', { parent: '/q', status: 'busy' }));
    const rows = await rowsWhen(followed, (some) => some.some(({ status }) => status === 'busy'));
    expect(ids(rows)).toEqual(['a', 'c']);
  });

  it.each<[Record<string, string>, object]>([
    [
      { subset__limit: '1' },
      { order_by: ['order_by is required when limit or offset is present'] },
    ],
    [{ subset__limit: '0', subset__order_by: 'id' }, { limit: ['must be greater than 0'] }],
    [{ subset__limit: 'x', subset__order_by: 'id' }, { limit: ['is invalid'] }],
    [{ subset__order_by: 'secret' }, { order_by: ['unknown column secret'] }],
    [{ subset__where: 'id = $1' }, { where: ['At location 5: parameter $1 was not provided'] }],
    [{ subset__where: 'true', subset__params: '[' }, { params: ['params must be valid JSON'] }],
  ])('is refused with %j', async (params, subset) => {
    const catalog = await start();
    const response = await readShape(catalog, { offset: '-1', ...params });

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ message: 'Invalid request', errors: { subset } });
  });
});

describe('the edges of the HTTP face', () => {
  it('answers an empty 414 to a request line over 10,000 bytes', async () => {
    const catalog = await start();
    const response = await readShape(catalog, { offset: '-1', where: 'x'.repeat(10_000) });

    expect([response.status, await response.text()]).toEqual([414, '']);
  });

  it('gives 401 and 404 no content type', async () => {
    const catalog = await start({ secret: 'hush' });
    const refused = await readShape(catalog, { offset: '-1' });
    const missing = await fetch(`${catalog.url}/nowhere`);

    expect([refused.status, refused.headers.get('content-type')]).toEqual([401, null]);
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, null]);
    expect(await missing.text()).toBe('Not found');
  });
});
