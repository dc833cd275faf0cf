import { afterEach, describe, expect, it } from '@jest/globals';
import {
  deleteEntity,
  endAll,
  entity,
  parkRead,
  putEntity,
  readShape,
  start,
} from './catalog-fixture.ts';

afterEach(endAll);

const up = (lsn: number): object => ({
  headers: { control: 'up-to-date', global_last_seen_lsn: String(lsn) },
});
const snapshotEnd = (lsn: number): object => ({
  headers: { control: 'snapshot-end', xmin: `${lsn + 1}`, xmax: `${lsn + 1}`, xip_list: [] },
});
const mustRefetch = [{ headers: { control: 'must-refetch' } }];

function electricHeaders(response: Response): Record<string, string> {
  const names = [...response.headers].filter(
    ([name]) => name.startsWith('electric-') && name !== 'electric-server',
  );
  return Object.fromEntries(names);
}

describe('GET /v1/shape', () => {
  it('answers offset=-1 with the rows, the schema and the current offset', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const response = await readShape(catalog, { offset: '-1', columns: 'parent,url' });

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe(
      'public, max-age=604800, s-maxage=3600, stale-while-revalidate=2629746',
    );
    expect(electricHeaders(response)).toEqual({
      'electric-handle': expect.stringMatching(/^[0-9a-f]{16}-[0-9a-f]{12}-1$/),
      'electric-offset': '1_0',
      'electric-has-data': 'true',
      'electric-schema':
        '{"parent":{"type":"text"},"url":{"type":"text","pk_index":0,"not_null":true}}',
    });
    expect(await response.json()).toEqual([
      {
        key: '"public"."entities"/"//t//acme//a//echo//a"',
        value: { url: '/t/acme/a/echo/a', parent: null },
        headers: { operation: 'insert', relation: ['public', 'entities'] },
      },
      snapshotEnd(1),
    ]);
  });

  it('is up to date at the second answer to a snapshot, which is empty', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const first = await readShape(catalog, { offset: '-1' });
    const handle = first.headers.get('electric-handle')!;
    const response = await readShape(catalog, { offset: '1_0', handle });

    expect(electricHeaders(response)).toEqual({
      'electric-handle': handle,
      'electric-offset': '1_inf',
      'electric-up-to-date': '',
      // So does Electric.
      'electric-has-data': 'true',
      'electric-schema': first.headers.get('electric-schema'),
    });
    expect(await response.json()).toEqual([up(1)]);
  });

  it('answers offset=now, and log=changes_only from the start, without rows', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));

    const now = await readShape(catalog, { offset: 'now' });
    expect(await now.json()).toEqual([up(1)]);
    expect(now.headers.get('electric-offset')).toBe('1_inf');
    const changes = await readShape(catalog, { offset: '-1', log: 'changes_only' });
    expect(await changes.json()).toEqual([snapshotEnd(1)]);
  });

  it('answers a catch-up with the changes after the offset, the handle kept', async () => {
    const catalog = await start();
    await putEntity(catalog, entity('a'));
    const first = await readShape(catalog, { offset: '-1' });
    const handle = first.headers.get('electric-handle')!;
    await putEntity(catalog, entity('a', { status: 'busy' }));
    await deleteEntity(catalog, '/t/acme/a/echo/a');
    const response = await readShape(catalog, { offset: '1_0', handle });

    expect(electricHeaders(response)).toEqual({
      'electric-handle': handle,
      'electric-offset': '3_0',
      'electric-up-to-date': '',
      'electric-has-data': 'true',
      'electric-schema': first.headers.get('electric-schema'),
    });
    const key = '"public"."entities"/"//t//acme//a//echo//a"';
    const relation = ['public', 'entities'];
    expect(await response.json()).toEqual([
      {
        key,
        value: { url: '/t/acme/a/echo/a', status: 'busy' },
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
        value: { url: '/t/acme/a/echo/a' },
        headers: {
          operation: 'delete',
          relation,
          lsn: '3',
          op_position: 0,
          txids: [3],
          last: true,
        },
      },
      up(3),
    ]);
  });

  it('answers a live read at once where something matched since its offset', async () => {
    const catalog = await start({ longPollTimeoutMs: 3_600_000 });
    const first = await readShape(catalog, { offset: '-1' });
    const handle = first.headers.get('electric-handle')!;
    await putEntity(catalog, entity('a'));
    const response = await readShape(catalog, { offset: '0_0', handle, live: 'true', cursor: '5' });

    expect(electricHeaders(response)).toEqual({
      'electric-handle': handle,
      'electric-offset': '1_0',
      'electric-up-to-date': '',
      'electric-has-data': 'true',
      'electric-cursor': expect.stringMatching(/^[1-9][0-9]{7,}$/),
    });
    expect(await response.json()).toHaveLength(2);
  });

  it('answers a live read after its time with the current offset, though nothing matched', async () => {
    const catalog = await start({ longPollTimeoutMs: 10 });
    const shape = { where: "status = 'gone'" };
    const first = await readShape(catalog, { offset: '-1', ...shape });
    const handle = first.headers.get('electric-handle')!;
    await putEntity(catalog, entity('a'));
    const cursor = '99999999999999999999';
    const live = { offset: '0_0', handle, live: 'true', cursor, ...shape };
    const response = await readShape(catalog, live);

    expect(electricHeaders(response)).toEqual({
      'electric-handle': handle,
      'electric-offset': '1_inf',
      'electric-up-to-date': '',
      'electric-has-data': 'false',
      'electric-cursor': expect.stringMatching(/^10000000000000000\d{4}$/),
    });
    expect(await response.json()).toEqual([up(1)]);
  });

  it('holds a live read over changes that do not concern it, until one does', async () => {
    const catalog = await start({ longPollTimeoutMs: 3_600_000 });
    const where = "status = 'busy'";
    const first = await readShape(catalog, { offset: '-1', where });
    const handle = first.headers.get('electric-handle')!;
    const parked = await parkRead(catalog, { offset: '0_0', handle, where });
    await putEntity(catalog, entity('a'));
    await putEntity(catalog, entity('b', { status: 'busy' }));

    expect(await parked.settled).toEqual({
      status: 200,
      body: [
        {
          key: '"public"."entities"/"//t//acme//a//echo//b"',
          value: entity('b', { status: 'busy' }),
          headers: {
            operation: 'insert',
            relation: ['public', 'entities'],
            lsn: '2',
            op_position: 0,
            txids: [2],
            last: true,
          },
        },
        up(2),
      ],
    });
  });

  it('answers a parked read with 409 when its shape is rotated away', async () => {
    const catalog = await start({ longPollTimeoutMs: 3_600_000 });
    const first = await readShape(catalog, { offset: '-1' });
    const handle = first.headers.get('electric-handle')!;
    const parked = await parkRead(catalog, { offset: '0_0', handle });
    catalog.rotate();

    expect(await parked.settled).toEqual({ status: 409, body: mustRefetch });
  });

  it('answers 409 with a new handle to one it cannot go on from', async () => {
    const catalog = await start({ maxLoggedChanges: 2 });
    for (const id of ['a', 'b', 'c']) await putEntity(catalog, entity(id));
    const handle = (await readShape(catalog, { offset: '-1' })).headers.get('electric-handle')!;
    const statusOf = async (params: Record<string, string>): Promise<number> =>
      (await readShape(catalog, { offset: '3_0', handle, ...params })).status;

    // The log holds 2 and 3: a reader at 1 lacks nothing, one at 0 would miss the first change.
    expect(await statusOf({ offset: '1_0' })).toBe(200);
    expect(await statusOf({ offset: '0_0' })).toBe(409);
    expect(await statusOf({ offset: '3_0' })).toBe(200);
    expect(await statusOf({ offset: '4_0' })).toBe(400);
    expect(await statusOf({ where: "status = 'x'" })).toBe(409);
    expect(await statusOf({ columns: 'url' })).toBe(409);
    expect(await statusOf({ replica: 'full' })).toBe(409);
    expect(await statusOf({ 'params[1]': 'x' })).toBe(409);
    expect(await statusOf({ where: 'status = $1', 'params[1]': 'x' })).toBe(409);
    expect(await statusOf({ table: 'notes' })).toBe(409);
    catalog.rotate();
    const response = await readShape(catalog, { offset: '3_0', handle });
    expect(response.status).toBe(409);
    expect(response.headers.get('cache-control')).toBe('public, max-age=60, must-revalidate');
    expect(electricHeaders(response)).toEqual({
      'electric-handle': expect.not.stringMatching(handle),
    });
    expect(await response.json()).toEqual(mustRefetch);
  });

  it.each<[Record<string, string>, Record<string, string[]>]>([
    [{}, { offset: ["can't be blank"] }],
    [{ offset: '1' }, { offset: ['has invalid format'] }],
    [{ offset: '1_0' }, { handle: ["can't be blank when offset != -1"] }],
    [{ offset: '-1', live: 'true' }, { live: ["can't be true when offset == -1"] }],
    [{ offset: 'now', live: 'true' }, { live: ["can't be true when offset is 'now'"] }],
    // Electric takes every value but `false` for true.
    [{ offset: '-1', live: 'maybe' }, { live: ["can't be true when offset == -1"] }],
    [{ offset: '-1', live_sse: 'true' }, { live_sse: ["can't be true unless live is also true"] }],
    [{ offset: '-1', table: '' }, { table: ["can't be blank"] }],
    [{ offset: '-1', table: 'users' }, { table: ['Table "users" does not exist'] }],
    [{ offset: '-1', table: '"Notes"' }, { table: ['Table "\\"Notes\\"" does not exist'] }],
    [{ offset: '-1', table: 'a.b.c' }, { table: ['Table "a.b.c" does not exist'] }],
    [
      { offset: '-1', table: 'a;b' },
      { table: ['Invalid unquoted identifier contains special characters: a;b'] },
    ],
    [{ offset: '-1', columns: 'url,x' }, { columns: ['The following columns are not found: x'] }],
    [
      { offset: '-1', columns: 'status' },
      { columns: ['The list of columns must include all primary key columns, missing: url'] },
    ],
    [{ offset: '-1', columns: 'url,' }, { columns: ['Invalid zero-length delimited identifier'] }],
    [
      { offset: '-1', columns: 'url, status' },
      { columns: ['Invalid unquoted identifier contains special characters:  status'] },
    ],
    [{ offset: '-1', replica: 'half' }, { replica: ['is invalid'] }],
    [{ offset: '-1', params: '{"1":"x"}' }, { params: ['is invalid'] }],
    [
      { offset: '-1', where: 'id = $1' },
      { where: ['At location 5: parameter $1 was not provided'] },
    ],
    [
      { offset: '-1', where: 'id = $2', 'params[2]': 'x' },
      { params: ['Parameters must be numbered sequentially, starting from 1'] },
    ],
    [{ offset: '-1', where: '1' }, { where: [expect.stringContaining('location 0')] as never }],
  ])('answers 400 in the shape of Electric to %j', async (params, errors) => {
    const catalog = await start();
    const response = await readShape(catalog, params);

    expect(response.status).toBe(400);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('surrogate-control')).toBe('no-store');
    expect(await response.json()).toEqual({ message: 'Invalid request', errors });
  });

  it('takes a qualified or quoted table name, and the last of a parameter given twice', async () => {
    const catalog = await start();
    for (const table of ['public.Entities', '"public"."entities"', ' entities ']) {
      expect((await readShape(catalog, { offset: '-1', table })).status).toBe(200);
    }
    const twice = await fetch(`${catalog.url}/v1/shape?table=users&table=notes&offset=-1`);
    expect(Object.keys(JSON.parse(twice.headers.get('electric-schema')!))).toEqual([
      'body',
      'id',
      'tenant',
    ]);
  });
});
