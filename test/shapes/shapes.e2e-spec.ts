import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { askRaw, problemAnswer } from '../support/ask-raw.ts';
import { API_KEY, READ_TOKEN_SECRET, startTestGateway } from '../support/gateway.ts';
import { mintReadToken, type TokenRequest } from '../support/read-tokens.ts';
import { testGateway } from '../support/scripted-gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const CATALOG_SECRET = 'catalog-secret';
const SHAPE = '/shapes/v1/shape';
const enc = encodeURIComponent;

function row(tenant: string, id: string, type: string): Record<string, string | null> {
  const url = `/t/${tenant}/a/${type}/${id}`;
  const time = '2026-01-01T00:00:00.000Z';
  return {
    url,
    type,
    id,
    status: 'idle',
    parent: null,
    tenant,
    created_at: time,
    updated_at: time,
  };
}

const OWN = [row('default', 'a1', 'chat'), row('default', 'a2', 'echo')];
const OTHERS = [row('other', 'b1', 'chat'), row('default2', 'b2', 'chat')];

interface Answer {
  status: number;
  /** The urls of the rows that came, sorted; or the code of the error. */
  result: string[] | string;
}

describe('shapes through the gateway', () => {
  let catalog: Catalog;
  beforeAll(async () => {
    const databasePath = ':memory:';
    catalog = await startCatalog({ port: 0, databasePath, secret: CATALOG_SECRET });
    for (const values of [...OWN, ...OTHERS]) {
      const body = JSON.stringify(values);
      const answer = await fetch(`${catalog.url}/rows/entities`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${CATALOG_SECRET}` },
        body,
      });
      expect(answer.status).toBe(204);
    }
  });
  const gateway = testGateway(() => ({
    GATEWAY_SYNC_URL: catalog.url,
    GATEWAY_SYNC_SECRET: CATALOG_SECRET,
  }));
  afterAll(() => catalog?.stop());

  const mint = (more: Partial<TokenRequest> = {}): Promise<string> =>
    mintReadToken(READ_TOKEN_SECRET, { prefix: SHAPE, ttlSeconds: 60, ...more });

  async function read(query: string, credential: string, path = SHAPE): Promise<Answer> {
    const target = `${path}?offset=-1${query === '' ? '' : `&${query}`}`;
    const { status, body } = (await askRaw(gateway.port, `GET ${target}`, credential)) as {
      status: number;
      body: string | { code: string };
    };
    if (typeof body !== 'string') return { status, result: body.code };
    if (status !== 200) return { status, result: body };
    const text = body.slice(body.indexOf('['), body.lastIndexOf(']') + 1);
    const messages = JSON.parse(text) as { value?: { url: string } }[];
    return { status, result: messages.flatMap(({ value }) => value?.url ?? []).sort() };
  }

  const urls = (rows: typeof OWN): string[] => rows.map(({ url }) => url ?? '').sort();
  const ok = (rows: typeof OWN): Answer => ({ status: 200, result: urls(rows) });

  describe('with an API key', () => {
    it('give the rows of every tenant', async () => {
      expect(await read('table=entities', API_KEY)).toEqual(ok([...OWN, ...OTHERS]));
    });

    it.each(['secret=wrong', 'api_secret=wrong', '%73ecret=x&secret[]=y&api%5Fsecret=z'])(
      'are asked for with the secret of the gateway alone: %s',
      async (query) => {
        expect((await read(`table=entities&${query}`, API_KEY)).status).toBe(200);
      },
    );

    it('give the errors of the engine as they are', async () => {
      expect(await askRaw(gateway.port, `GET ${SHAPE}?table=none&offset=-1`, API_KEY)).toEqual({
        status: 400,
        body: JSON.stringify({
          message: 'Invalid request',
          errors: { table: ['Table "none" does not exist'] },
        }),
      });
    });
  });

  describe('with a read token', () => {
    let token: string;
    beforeAll(async () => {
      token = await mint();
    });

    it('give the rows of the tenant', async () => {
      expect(await read('table=entities', token)).toEqual(ok(OWN));
    });

    it.each([
      ["type = 'chat'", OWN.slice(0, 1)],
      ["tenant = 'other'", []],
      ["tenant = 'default2' OR tenant = 'other'", []],
      ["tenant = 'other' OR 'a' = 'a'", OWN],
      ["NOT tenant = 'default'", []],
      ["\"tenant\" IN ('other', 'default')", OWN],
      ["id = ') OR (1=1'", []],
      ["id = 'x' OR id = '--'", []],
      ["Type IN ('chat') AND NOT (id IS NULL)", OWN.slice(0, 1)],
      ["status LIKE 'i%' AND created_at > '2025-01-01'", OWN],
    ])('give with %s no row of another', async (where, rows) => {
      expect(await read(`table=entities&where=${enc(where)}`, token)).toEqual(ok(rows));
    });

    it.each(['params[1]=other', `params%5B1%5D=other`, 'params[1]=default'])(
      'give with the clause tenant = $1 and %s none either',
      async (params) => {
        const expected = params.endsWith('default') ? OWN : [];
        const query = `table=entities&where=${enc('tenant = $1')}&${params}`;
        expect(await read(query, token)).toEqual(ok(expected));
      },
    );

    it.each([
      "'a'='a') OR ('a'='a",
      "'a'='a') OR ('a'='a'",
      "'a'='a') OR (tenant = 'other'",
      "tenant = 'other' -- ",
      "tenant = 'other' /* ",
      "tenant = 'other'; SELECT",
      'tenant = $x$other$x$',
      "tenant = E'other'",
      '"a)" IS NULL) OR ("b(" IS NULL',
      "tenant = 'other",
      '(',
      '',
      "EXISTS (SELECT 1 FROM entities WHERE tenant = 'other')",
      // Electric writes it anew without its parentheses: all tenants' rows came.
      "(id = 'x' OR tenant = 'other') IS NOT NULL",
      "true IS NOT DISTINCT FROM (false OR tenant = 'other')",
      "query_to_xml('select * from payroll', true, true, '') IS NULL",
      "'payroll'::regclass IS NULL",
    ])('refuse the clause %j before it reaches the engine', async (where) => {
      for (const parameter of ['where', 'subset__where']) {
        const answer = await read(`table=entities&${parameter}=${enc(where)}`, token);
        expect(answer).toEqual({ status: 400, result: 'invalid_where' });
      }
    });

    it.each([
      ['table=entities&table=entities', 400, 'duplicate_parameter'],
      ['table=entities&t%61ble=secrets', 400, 'duplicate_parameter'],
      ["table=entities&where=id='a1'&where=id='b1'", 400, 'duplicate_parameter'],
      ["table=entities&where=id='a1'&where[]=id='b1'", 400, 'unknown_parameter'],
      ['table=entities&where=tenant=$1&params[1]=x&params[1]=other', 400, 'duplicate_parameter'],
      ['table=entities&columns=url&columns=tenant', 400, 'duplicate_parameter'],
      ['table=entities&offset=-1', 400, 'duplicate_parameter'],
      ['table=entities&queryable_columns=url', 400, 'unknown_parameter'],
      ['table=entities&params=%7B%221%22%3A%22x%22%7D', 400, 'unknown_parameter'],
      ['table=entities&params[0]=x', 400, 'unknown_parameter'],
      ['table=entities&params[01]=x', 400, 'unknown_parameter'],
      ['table=entities&params[2]=x', 400, 'unknown_parameter'],
      ['table=entities&table%5B%5D=secrets', 400, 'unknown_parameter'],
      ['table=entities&secret[]=a', 400, 'unknown_parameter'],
      ['table%5B%5D=entities', 400, 'unknown_parameter'],
      ['Table=entities', 400, 'unknown_parameter'],
      ['table=entities&subset__where_expr=%7B%7D', 400, 'unknown_parameter'],
      // With Electric before 1.5 its row came: the text went into the SQL as it was.
      [
        'table=entities&subset__order_by=(select+cast(pay+as+int)+from+payroll)',
        400,
        'invalid_order_by',
      ],
      ['table=entities&subset__order_by=id%3B', 400, 'invalid_order_by'],
      ['table=entities&subset__limit=1e3', 400, 'invalid_parameter'],
      ['table=entities&subset__offset=-1', 400, 'invalid_parameter'],
      ['table=entities&subset__params=%7B%221%22%3A1%7D', 400, 'invalid_parameter'],
      ['table=entities&handle=%ff', 400, 'invalid_parameter'],
      ['', 403, 'table_not_allowed'],
      ['table=secrets', 403, 'table_not_allowed'],
      ['table=public.entities', 403, 'table_not_allowed'],
      ['table=entities,secrets', 403, 'table_not_allowed'],
      ['table=ENTITIES', 403, 'table_not_allowed'],
    ])('refuse %s', async (query, status, result) => {
      expect(await read(query, token)).toEqual({ status, result });
    });

    it('name the parameter that does not pass', async () => {
      const line = `GET ${SHAPE}?table=entities&queryable_columns=url`;
      expect(await askRaw(gateway.port, line, token)).toEqual(
        problemAnswer(
          400,
          'unknown_parameter',
          'A query parameter does not pass with a read token',
          'The parameter "queryable_columns" does not pass with a read token; the HTTP API document lists those that do.',
        ),
      );
    });

    it.each(['secret=a&secret=b', 'api_secret=a', 'secret=a&%73ecret=b&api%5Fsecret=c'])(
      'are asked for without the secrets of the client: %s',
      async (query) => {
        expect(await read(`table=entities&${query}`, token)).toEqual(ok(OWN));
      },
    );

    it.each([
      '/shapes/v1/health',
      '/shapes/v1/shape/',
      '/shapes/v1/%73hape',
      '/shapes/rows/entities',
    ])('open no other path: %s', async (path) => {
      const wide = await mint({ prefix: '/shapes' });
      expect(await askRaw(gateway.port, `GET ${path}?table=entities`, wide)).toEqual(
        problemAnswer(
          403,
          'prefix_not_covered',
          'The read token does not cover this path',
          'Under /shapes a read token opens /shapes/v1/shape only.',
        ),
      );
    });

    it('are not opened by a token for streams', async () => {
      const streams = await mint({ prefix: '/streams' });
      expect(await read('table=entities', streams)).toEqual({
        status: 403,
        result: 'prefix_not_covered',
      });
    });
  });

  describe('with a read token that pins', () => {
    const columns = { table: 'entities', columns: ['url', 'id'] };
    const whole = { ...columns, where: 'type = $1', params: { 1: 'chat' } };
    const ofColumns = 'table=entities&columns=url,id';
    const ofWhole = `${ofColumns}&where=${enc(whole.where)}&params[1]=chat`;

    it.each([
      ['a shape', whole, ofWhole, OWN.slice(0, 1)],
      ['columns', columns, ofColumns, OWN],
    ])('%s, give what it pins of the rows of the tenant', async (_, shape, query, rows) => {
      expect(await read(query, await mint({ shape }))).toEqual(ok(rows));
    });

    it.each([
      ['a shape, refuse another param', whole, ofWhole.replace('=chat', '=echo')],
      ['a shape, refuse a second param', whole, `${ofWhole}&params[2]=echo`],
      ['a shape, refuse another clause', whole, ofWhole.replace('type', 'id')],
      ['a shape, refuse no clause', whole, 'table=entities'],
      ['a shape, refuse another column', whole, ofWhole.replace('url,id', 'url,tenant')],
      ['a shape, refuse all columns', whole, ofWhole.replace('&columns=url,id', '')],
      // They could tell of the other columns.
      ['columns, refuse a clause', columns, `${ofColumns}&where=${enc("status = 'idle'")}`],
      ['columns, refuse a clause on one', columns, `${ofColumns}&where=${enc("id = 'a1'")}`],
      ['columns, refuse a subset', columns, `${ofColumns}&subset__where=${enc("status = 'idle'")}`],
      ['columns, refuse an order by another', columns, `${ofColumns}&subset__order_by=status`],
    ])('%s', async (_, shape, query) => {
      const refused = { status: 403, result: 'shape_not_covered' };
      expect(await read(query, await mint({ shape }))).toEqual(refused);
    });
  });

  it('carry the secret of the engine exactly once, and a fence only for read tokens', async () => {
    const engine = await startScriptedUpstream((_, response) => response.end('[]'));
    const own = await startTestGateway({
      GATEWAY_SYNC_URL: `${engine.url}/base`,
      GATEWAY_SYNC_SECRET: 's3cret &=+',
      GATEWAY_SHAPES_TABLES: 'entities, notes',
      GATEWAY_SHAPES_TENANT_COLUMN: 'Org',
    });
    const credentials = [API_KEY, await mint()];
    for (const credential of credentials) {
      const query = 'table=notes&secret=mine&%61pi_secret=mine&live=true&handle=%2F';
      await askRaw(own.port, `GET ${SHAPE}?${query}`, credential);
    }
    // An API key may send what it likes.
    await askRaw(
      own.port,
      `GET ${SHAPE}?table=a&table=b&x=%zz&where=)&subset__order_by=;`,
      API_KEY,
    );
    await own.stop();
    await engine.stop();
    const secret = 'secret=s3cret%20%26%3D%2B';
    expect(engine.seen.map(({ target }) => target)).toEqual([
      `/base/v1/shape?${secret}&table=notes&live=true&handle=%2F`,
      `/base/v1/shape?${secret}&table=notes&live=true&handle=%2F&where=%22Org%22%20%3D%20'default'`,
      `/base/v1/shape?${secret}&table=a&table=b&x=%zz&where=)&subset__order_by=;`,
    ]);
    expect(own.logLines.join('\n')).not.toMatch(/s3cret|mine/);
  });
});
