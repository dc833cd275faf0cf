import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  endAll,
  endLater,
  entity,
  follow,
  ids,
  putEntity,
  readShape,
  record,
  rowsWhen,
  start,
} from './catalog-fixture.ts';
import { catalogListener } from './catalog-server.ts';
import type { Catalog } from './catalog-server.ts';
import { ChangeLog } from './change-log.ts';
import { RowStore } from './row-store.ts';
import { ShapeHandles } from './shape-handles.ts';

afterEach(endAll);

describe('the real Electric client, when the catalog engine lets it wait or start again,', () => {
  it('keeps its place when a live read ends without a change', async () => {
    const catalog = await start({ longPollTimeoutMs: 5 });
    const answers: (string | null)[] = [];
    const polled = Promise.withResolvers<void>();
    const followed = follow(
      catalog,
      {},
      {
        fetchClient: async (...args) => {
          const response = await fetch(...args);
          if (new URL(response.url).searchParams.has('live')) {
            answers.push(response.headers.get('electric-cursor'));
            if (answers.length === 3) polled.resolve();
          }
          return response;
        },
      },
    );
    await rowsWhen(followed, () => true);
    await polled.promise;

    // A cursor that did not grow would let a cache answer the next read with this one.
    const [first, second, third] = answers.slice(0, 3).map(Number);
    expect(second).toBeGreaterThan(first!);
    expect(third).toBeGreaterThan(second!);
    await putEntity(catalog, entity('a'));
    expect(ids(await rowsWhen(followed, (rows) => rows.length === 1))).toEqual(['a']);
  });

  it('fetches all again after a restart, which the rows survive', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalog-'));
    endLater(() => rm(folder, { recursive: true }));
    const databasePath = join(folder, 'new', 'catalog.sqlite');
    const first = await start({ databasePath });
    await putEntity(first, entity('a'));
    await putEntity(first, entity('b'));
    const followed = follow(first);
    const seen = record(followed);
    await rowsWhen(followed, (rows) => rows.length === 2);
    const oldHandle = followed.stream.shapeHandle;

    await first.stop();
    const second = await start({ databasePath, port: first.port });
    await putEntity(second, entity('c'));
    const rows = await rowsWhen(followed, (current) => current.length === 3);

    expect(rows).toEqual([entity('a'), entity('b'), entity('c')]);
    expect(seen.filter(([name]) => name === 'must-refetch')).toEqual([['must-refetch']]);
    expect(followed.stream.shapeHandle).not.toBe(oldHandle);
  });

  it('fetches all again when its parked read is rotated away, and continues', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const statuses: number[] = [];
    const followed = follow(
      catalog,
      {},
      {
        fetchClient: async (...args) => {
          const response = await fetch(...args);
          statuses.push(response.status);
          return response;
        },
      },
    );
    await rowsWhen(followed, (rows) => rows.length === 1);

    catalog.rotate();
    await putEntity(catalog, entity('b'));
    expect(ids(await rowsWhen(followed, (rows) => rows.length === 2))).toEqual(['a', 'b']);
    await putEntity(catalog, entity('c'));
    expect(ids(await rowsWhen(followed, (rows) => rows.length === 3))).toEqual(['a', 'b', 'c']);
    expect(statuses.filter((status) => status === 409)).toEqual([409]);
  });

  it('has one handle for a shape, until a reader has to fetch again', async () => {
    const handleOf = async (catalog: Catalog, params: Record<string, string>): Promise<string> =>
      (await readShape(catalog, params)).headers.get('electric-handle')!;
    const catalog = await start({ maxLoggedChanges: 1 });
    const first = await handleOf(catalog, { offset: '-1' });
    expect(await handleOf(catalog, { offset: '-1' })).toBe(first);
    expect(await handleOf(catalog, { offset: 'now' })).toBe(first);
    const others = [
      await handleOf(catalog, { offset: '-1', where: "status = 'x'" }),
      await handleOf(await start(), { offset: '-1' }),
    ];

    // It falls behind the log: an answer with its own handle would be a stale one to it.
    for (const id of ['a', 'b']) await putEntity(catalog, entity(id));
    const second = await handleOf(catalog, { offset: '0_0', handle: first });
    expect(await handleOf(catalog, { offset: '0_0', handle: first })).toBe(second);
    catalog.rotate();
    const third = await handleOf(catalog, { offset: '2_0', handle: second });

    expect(await handleOf(catalog, { offset: '-1' })).toBe(third);
    expect(new Set([first, second, third, ...others]).size).toBe(5);
  });

  it('lets go of a parked read when its client goes', async () => {
    const log = new ChangeLog(100);
    const store = new RowStore(':memory:');
    const parked = Promise.withResolvers<void>();
    const freed = Promise.withResolvers<void>();
    const original = log.follow.bind(log);
    log.follow = (follower) => {
      const unfollow = original(follower);
      parked.resolve();
      return () => {
        unfollow();
        freed.resolve();
      };
    };
    const engine = { store, log, handles: new ShapeHandles(log), longPollTimeoutMs: 3_600_000 };
    const server = createServer(catalogListener(engine));
    endLater(() => store.close());
    endLater(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;

    const url = `http://127.0.0.1:${port}`;
    const { abort } = follow({ url, port, rotate() {}, stop: () => Promise.resolve() });
    await parked.promise;
    abort();

    // Without the release this waits for the hour of the long poll, and the test fails by its timeout.
    await freed.promise;
  });
});
