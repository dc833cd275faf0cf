import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deleteEntity, endAll, entity, putEntity, readShape, start } from './catalog-fixture.ts';
import type { Catalog } from './catalog-server.ts';
import type { Row } from './tables.ts';

const LATER = '2026-02-01T12:30:00.500+02:00';

let catalog: Catalog;
beforeEach(async () => {
  catalog = await start();
});
afterEach(endAll);

async function rows(table = 'entities', secret = ''): Promise<Row[]> {
  const response = await readShape(catalog, { table, offset: '-1', secret });
  const messages = (await response.json()) as { value?: Row }[];
  return messages.flatMap(({ value }) => (value ? [value] : []));
}

/** The number of the last change. */
async function lsn(): Promise<string | null> {
  return (await readShape(catalog, { offset: 'now' })).headers.get('electric-offset');
}

function put(body: BodyInit, path = '/rows/entities'): Promise<Response> {
  return fetch(`${catalog.url}${path}`, { method: 'PUT', body });
}

describe('PUT /rows/<table>', () => {
  it('writes a new row, its times set where none are given', async () => {
    const before = Date.now();
    const { url, type, id, status, tenant } = entity('a');
    const response = await put(JSON.stringify({ url, type, id, status, tenant }));

    expect(response.status).toBe(204);
    const [row] = await rows();
    expect(row).toEqual(
      entity('a', { created_at: row!['created_at']!, updated_at: row!['created_at']! }),
    );
    const writtenAt = Date.parse(row!['created_at']!.replace(' ', 'T').replace(/\+00$/, 'Z'));
    expect(writtenAt).toBeGreaterThanOrEqual(before);
    expect(writtenAt).toBeLessThanOrEqual(Date.now());
  });

  it('keeps what a partial row leaves out, and the first created_at', async () => {
    await putEntity(catalog, entity('a', { parent: '/p' }));
    await putEntity(catalog, { url: '/t/acme/a/echo/a', status: 'busy', created_at: LATER });
    expect(await rows()).toEqual([entity('a', { parent: '/p', status: 'busy' })]);

    await putEntity(catalog, { url: '/t/acme/a/echo/a', parent: null, updated_at: LATER });
    expect(await rows()).toEqual([
      entity('a', { status: 'busy', updated_at: '2026-02-01 10:30:00.5+00' }),
    ]);
  });

  it('refuses a time that is none', async () => {
    const response = await put(JSON.stringify(entity('a', { updated_at: '2026-02-30' })));

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      message: 'updated_at must be a time such as 2026-11-22T15:34:23.374Z',
    });
  });

  it('counts a write that changes nothing as no change', async () => {
    await putEntity(catalog, entity('a'));
    await putEntity(catalog, entity('a'));

    expect(await lsn()).toBe('1_inf');
  });

  it('moves the row named in the query to the key of the body', async () => {
    await putEntity(catalog, entity('a', { parent: '/p' }));
    await putEntity(catalog, { url: '/new' }, '/t/acme/a/echo/a');

    expect(await rows()).toEqual([entity('a', { url: '/new', parent: '/p' })]);
    expect(await lsn()).toBe('2_inf');
  });

  it('keeps text as it is, other tables too', async () => {
    const body = `'"\\ %_ é 漢 😀 \n`;
    const response = await put(JSON.stringify({ id: "'1'", tenant: 'acme', body }), '/rows/notes');

    expect(response.status).toBe(204);
    expect(await rows('notes')).toEqual([{ id: "'1'", tenant: 'acme', body }]);
  });

  const known = 'url, type, id, status, parent, tenant, created_at, updated_at';
  it.each([
    ['no body', '', 'the body must be JSON in UTF-8'],
    ['no JSON', '{', 'the body must be JSON in UTF-8'],
    ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'the body must be JSON in UTF-8'],
    ['no object', '[]', 'the body must be a JSON object, one property a column'],
    ['no key', '{"status":"x"}', 'url is required: it is the key of entities'],
    ['an empty key', '{"url":""}', 'url is required: it is the key of entities'],
    ['an unknown column', '{"url":"x","a":"b"}', `"a" is no column of entities: ${known}`],
    ['a number', '{"url":"x","status":1}', 'status must be a text'],
    ['null for what must not be', '{"url":"x","status":null}', 'status must be a text'],
    ['an object for what may be null', '{"url":"x","parent":{}}', 'parent must be a text or null'],
    ['a NUL', '{"url":"x\\u0000"}', 'url must be a text'],
    ['half a surrogate pair', '{"url":"\\ud800"}', 'url must be a text'],
    [
      'a new row in part',
      '{"url":"x","type":"t"}',
      'a new row of entities also needs id, status, tenant',
    ],
  ])('refuses %s with a 400 and writes nothing', async (_case, body, message) => {
    const response = await put(body);

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ message });
    expect(await rows()).toEqual([]);
    expect(await lsn()).toBe('0_inf');
  });

  it('refuses to move a row that is not there, or onto another', async () => {
    await putEntity(catalog, entity('a'));
    await putEntity(catalog, entity('b'));
    const onto = JSON.stringify({ url: '/t/acme/a/echo/b' });
    const taken = await put(onto, '/rows/entities?url=/t/acme/a/echo/a');
    const missing = await put(JSON.stringify(entity('c')), '/rows/entities?url=/gone');

    expect([taken.status, await taken.json()]).toEqual([
      400,
      { message: '"/t/acme/a/echo/b" is taken' },
    ]);
    expect([missing.status, await missing.json()]).toEqual([
      400,
      { message: 'there is no row "/gone" to move' },
    ]);
    expect(await rows()).toEqual([entity('a'), entity('b')]);
  });

  it('refuses a body over 1 MiB with a 413', async () => {
    const response = await put(JSON.stringify(entity('a', { status: 'x'.repeat(1_048_576) })));

    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ message: 'a row has at most 1048576 bytes' });
    expect(await rows()).toEqual([]);
  });
});

describe('DELETE /rows/<table>', () => {
  it('takes the row away, and does not mind one that is not there', async () => {
    await putEntity(catalog, entity('a'));
    await putEntity(catalog, entity('b'));
    await deleteEntity(catalog, '/t/acme/a/echo/a');
    await deleteEntity(catalog, '/t/acme/a/echo/a');

    expect(await rows()).toEqual([entity('b')]);
    expect(await lsn()).toBe('3_inf');
  });

  it('asks for the key where none is named', async () => {
    const response = await fetch(`${catalog.url}/rows/entities`, { method: 'DELETE' });

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ message: 'name the row: ?url=<percent-encoded url>' });
  });
});

describe('/rows', () => {
  it.each([
    ['POST', '/rows/entities', 405, 'Use PUT or DELETE'],
    ['PUT', '/rows/users', 404, 'There is no table "users"'],
  ])('answers %s %s with %i', async (method, path, status, message) => {
    const response = await fetch(`${catalog.url}${path}`, { method });

    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ message });
  });

  it('answers 401 without the secret, and writes nothing', async () => {
    catalog = await start({ secret: 'hush' });
    const body = JSON.stringify(entity('a'));
    for (const method of ['PUT', 'DELETE', 'POST', 'OPTIONS']) {
      for (const authorization of [undefined, 'Bearer ', 'Bearer other', 'hush', 'Basic hush']) {
        const response = await fetch(`${catalog.url}/rows/entities?url=x`, {
          method,
          headers: new Headers(authorization === undefined ? {} : { authorization }),
          ...(method === 'PUT' && { body }),
        });
        expect(response.status).toBe(401);
        expect(await response.json()).toEqual({ message: 'Unauthorized' });
      }
    }
    expect((await put(body, '/rows/users')).status).toBe(401);
    expect(await rows('entities', 'hush')).toEqual([]);

    await putEntity({ url: catalog.url, secret: 'hush' }, entity('a'));
    expect(await rows('entities', 'hush')).toEqual([entity('a')]);
  });

  it.each([
    ['OPTIONS', { origin: 'https://evil.example', 'access-control-request-method': 'PUT' }],
    ['PUT', { origin: 'https://evil.example' }],
    ['DELETE', { 'sec-fetch-site': 'same-site' }],
  ])('refuses %s of a page', async (method, headers) => {
    const response = await fetch(`${catalog.url}/rows/entities`, { method, headers });

    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});
