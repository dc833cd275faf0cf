import { FetchError, isChangeMessage } from '@electric-sql/client';
import type { Message } from '@electric-sql/client';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  deleteEntity,
  endAll,
  entity,
  follow,
  ids,
  putEntity,
  record,
  rowsWhen,
  start,
} from './catalog-fixture.ts';
import type { Row } from './tables.ts';

afterEach(endAll);

describe('the real Electric client on the catalog engine', () => {
  it('gets the rows that are there', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('b', { parent: '/t/acme/a/echo/a' }));
    await putEntity(catalog, entity('a'));

    await expect(rowsWhen(follow(catalog), (rows) => rows.length === 2)).resolves.toEqual([
      entity('a'),
      entity('b', { parent: '/t/acme/a/echo/a' }),
    ]);
  });

  it('gets no rows of an empty table', async () => {
    const catalog = await start();

    await expect(follow(catalog).shape.rows).resolves.toEqual([]);
  });

  it('follows an insert, an update and a delete', async () => {
    const catalog = await start();
    const followed = follow(catalog);
    const seen = record(followed);
    await rowsWhen(followed, () => true);

    await putEntity(catalog, entity('a'));
    await rowsWhen(followed, (rows) => rows.length === 1);
    await putEntity(catalog, { url: '/t/acme/a/echo/a', status: 'busy', parent: '/p' });
    const updated = await rowsWhen(followed, (rows) => rows[0]?.['status'] === 'busy');
    expect(updated).toEqual([entity('a', { status: 'busy', parent: '/p' })]);
    await deleteEntity(catalog, '/t/acme/a/echo/a');
    await rowsWhen(followed, (rows) => rows.length === 0);

    expect(seen).toEqual([
      ['up-to-date'],
      ['insert', entity('a')],
      ['up-to-date'],
      ['update', { url: '/t/acme/a/echo/a', status: 'busy', parent: '/p' }],
      ['up-to-date'],
      ['delete', { url: '/t/acme/a/echo/a' }],
      ['up-to-date'],
    ]);
  });

  it('gets an insert when a row moves into its filter and a delete when it moves out', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const followed = follow(catalog, { where: "status = 'busy'" });
    const seen = record(followed);
    await rowsWhen(followed, (rows) => rows.length === 0);

    await putEntity(catalog, entity('a', { status: 'busy' }));
    await rowsWhen(followed, (rows) => rows.length === 1);
    await putEntity(catalog, entity('a', { status: 'idle' }));
    await rowsWhen(followed, (rows) => rows.length === 0);

    expect(seen).toEqual([
      ['up-to-date'],
      ['insert', entity('a', { status: 'busy' })],
      ['up-to-date'],
      ['delete', { url: '/t/acme/a/echo/a' }],
      ['up-to-date'],
    ]);
  });

  it('gets a delete and an insert when a row changes its primary key', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const followed = follow(catalog);
    const seen = record(followed);
    await rowsWhen(followed, (rows) => rows.length === 1);

    await putEntity(catalog, { url: '/moved' }, '/t/acme/a/echo/a');
    const moved = await rowsWhen(followed, (rows) => rows[0]?.['url'] === '/moved');

    expect(moved).toEqual([entity('a', { url: '/moved' })]);
    expect(seen.slice(2)).toEqual([
      ['delete', { url: '/t/acme/a/echo/a' }],
      ['insert', entity('a', { url: '/moved' })],
      ['up-to-date'],
    ]);
  });

  it('filters by params, quotes in their values included', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a', { tenant: "o'hara" }));
    await putEntity(catalog, entity('b', { type: 'other', tenant: "o'hara" }));
    await putEntity(catalog, entity('c'));
    const followed = follow(catalog, {
      where: 'tenant = $1 AND type = $2',
      params: ["o'hara", 'echo'],
    });

    expect(ids(await rowsWhen(followed, () => true))).toEqual(['a']);
    await putEntity(catalog, entity('d', { tenant: "o'hara" }));
    expect(ids(await rowsWhen(followed, (rows) => rows.length > 1))).toEqual(['a', 'd']);
  });

  it('sees only the columns it asked for, and no change of any other', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const followed = follow(catalog, { columns: ['status', 'url'] });
    const seen = record(followed);
    await rowsWhen(followed, (rows) => rows.length === 1);

    await putEntity(catalog, entity('a', { updated_at: '2026-02-01' }));
    await putEntity(catalog, entity('a', { status: 'busy', updated_at: '2026-02-02' }));
    await rowsWhen(followed, (rows) => rows[0]?.['status'] === 'busy');

    expect(seen).toEqual([
      ['insert', { url: '/t/acme/a/echo/a', status: 'idle' }],
      ['up-to-date'],
      ['update', { url: '/t/acme/a/echo/a', status: 'busy' }],
      ['up-to-date'],
    ]);
  });

  it('gets whole rows and old values with replica=full', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const followed = follow(catalog, { replica: 'full' });
    const seen: Message<Row>[] = [];
    followed.stream.subscribe((messages) => void seen.push(...messages));
    await rowsWhen(followed, (rows) => rows.length === 1);

    await putEntity(catalog, entity('a', { status: 'busy' }));
    await rowsWhen(followed, (rows) => rows[0]?.['status'] === 'busy');
    await deleteEntity(catalog, '/t/acme/a/echo/a');
    await rowsWhen(followed, (rows) => rows.length === 0);

    const changes = seen.filter(isChangeMessage).slice(1);
    const key = '"public"."entities"/"//t//acme//a//echo//a"';
    const relation = ['public', 'entities'];
    expect(changes).toEqual([
      {
        key,
        value: entity('a', { status: 'busy' }),
        old_value: { status: 'idle' },
        headers: {
          operation: 'update',
          relation,
          lsn: '2',
          op_position: 0,
          txids: [2],
          last: true,
        },
      },
      {
        key,
        value: entity('a', { status: 'busy' }),
        headers: {
          operation: 'delete',
          relation,
          lsn: '3',
          op_position: 0,
          txids: [3],
          last: true,
        },
      },
    ]);
  });

  it('stops with the words of a 400 when its filter cannot be read', async () => {
    const catalog = await start();
    const failed = Promise.withResolvers<Error>();
    follow(
      catalog,
      { where: "status SIMILAR TO 'i%'" },
      { onError: (error) => failed.resolve(error) },
    );

    const error = await failed.promise;
    expect(error).toBeInstanceOf(FetchError);
    expect(error).toMatchObject({
      status: 400,
      json: {
        message: 'Invalid request',
        errors: { where: ['At location 7: unexpected "similar"'] },
      },
    });
  });
});
