import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { thrown } from '../../test/support/thrown.ts';
import type { ReadToken } from '../auth/read-token.ts';
import { parseShapeScope } from '../auth/shape-scope.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { shapeQuery } from './shape-query.ts';

const RULES = {
  tenant: 'acme',
  shapes: { tables: ['entities'], tenantColumn: 'tenant' } as {
    tables: '*' | string[];
    tenantColumn: string;
  },
};
const FENCE = `"tenant" = 'acme'`;

/** The forwarded query for an API key. */
function forApiKey(query: string, secret?: string): string {
  return shapeQuery({ path: '/shapes/v1/shape', query }, undefined, RULES, secret);
}

interface TokenCase {
  shape?: object;
  path?: string;
  rules?: Partial<typeof RULES>;
  syncSecret?: string;
}

/** The forwarded query for a read token. */
function forToken(
  query: string,
  { shape, path = '/shapes/v1/shape', rules, syncSecret }: TokenCase = {},
): string {
  const readToken: ReadToken = {
    signedBy: 'secret:x',
    caller: { id: 'id', isSubject: false },
    scope: [['shapes']],
    shape: shape && parseShapeScope(shape),
    expiresAtSeconds: 0,
    subject: undefined,
  };
  if (shape && !readToken.shape) throw new Error('the shape is no claim');
  return shapeQuery({ path, query }, readToken, { ...RULES, ...rules }, syncSecret);
}

function codeOf(query: string, options?: TokenCase): string {
  return thrown(GatewayError, () => forToken(query, options))?.code ?? 'passed';
}

const enc = encodeURIComponent;

describe('shapeQuery', () => {
  describe('for an API key', () => {
    it.each([
      '',
      '?',
      '?table=secrets&where=1=1)%20OR%20(1=1&where=x&offset=-1',
      '?a=%zz&&b&=c&d=%2B+%20&',
      '?where[]=x&params[1]=y',
    ])('passes %j on byte for byte', (query) => {
      expect(forApiKey(query)).toBe(query);
    });

    it('passes any path', () => {
      expect(
        shapeQuery({ path: '/shapes/v1/health', query: '?x' }, undefined, RULES, undefined),
      ).toBe('?x');
    });
  });

  describe('about the secret of the sync engine', () => {
    const SPELLINGS = [
      'secret=x',
      'secret',
      'secret=',
      '%73ecret=x',
      '%73%65%63%72%65%74=x',
      'secre%74=x',
      'secret[]=x',
      'secret%5B%5D=x',
      'secret[a][b]=x',
      'api_secret=x',
      'api%5Fsecret=x',
      'api_secret[0]=x',
    ];

    it.each(SPELLINGS)('drops %s for every credential', (spelling) => {
      expect(forApiKey(`?${spelling}`)).toBe('');
      expect(forApiKey(`?a=1&${spelling}&${spelling}&b=2`)).toBe('?a=1&b=2');
      expect(forApiKey(`?${spelling}`, 'own secret&')).toBe('?secret=own%20secret%26');
    });

    it('puts it alone into a query that is empty', () => {
      expect(forApiKey('?', 'x')).toBe('?secret=x');
    });

    it.each([
      'secret=x',
      'secret=x&secret=y&%73ecret=z',
      '%73ecret=x',
      'api_secret=x',
      'api_secret=x&api_secret=y',
      'secret',
      'secret=%zz',
    ])('drops %s for a read token', (spelling) => {
      const expected = `?table=entities&where=${enc(FENCE)}`;
      expect(forToken(`?${spelling}&table=entities`)).toBe(expected);
    });

    it.each(['secret[]=x', 'secret%5B%5D=x', 'api_secret[0]=x', 'Secret=x'])(
      'refuses %s with a read token, which is none of its parameters',
      (spelling) => {
        expect(codeOf(`?table=entities&${spelling}`)).toBe('unknown_parameter');
      },
    );

    it('sets it exactly once, before all else', () => {
      for (const query of ['', '?', '?a=1', '?secret=1&secret=2&api_secret=3&a=1']) {
        const sent = new URLSearchParams(forApiKey(query, 's3cret'));
        expect(sent.getAll('secret')).toEqual(['s3cret']);
        expect(sent.getAll('api_secret')).toEqual([]);
      }
      const forwarded = forToken('?table=entities&secret=mine', { syncSecret: 's3cret' });
      const sent = new URLSearchParams(forwarded);
      expect(sent.getAll('secret')).toEqual(['s3cret']);
    });

    it.each(['secrets=x', 'my_secret=x', 'xsecret=x', 'SECRET=x', '[secret]=x', 'a=secret'])(
      'lets %s be, which is another parameter',
      (pair) => {
        expect(forApiKey(`?${pair}`)).toBe(`?${pair}`);
      },
    );
  });

  describe('for a read token', () => {
    it('fences a read that asks for no rows in particular', () => {
      expect(forToken('?table=entities&offset=-1')).toBe(
        `?table=entities&offset=-1&where=${enc(FENCE)}`,
      );
    });

    it('fences the clause of a read, wherever it stands, in its own words', () => {
      const query =
        "?where=Type%3D%24%31+OR+id='x'&table=entities&params[1]=a%20b&live=true&handle=%2f";
      expect(forToken(query)).toBe(
        '?table=entities&params%5B1%5D=a%20b&live=true&handle=%2F' +
          `&where=${enc(`(${FENCE}) AND (("type" = $1 OR "id" = 'x'))`)}`,
      );
    });

    it('sends the clause of a subset and its order in its own words', () => {
      const query = `?table=entities&subset__where=${enc('Not id=$1')}&subset__params=${enc('{"1":"x"}')}`;
      const sent = new URLSearchParams(forToken(`${query}&subset__order_by=ID+desc`));
      expect(Object.fromEntries(sent)).toEqual({
        table: 'entities',
        subset__where: '(NOT "id" = $1)',
        subset__params: '{"1":"x"}',
        subset__order_by: '"id" DESC',
        where: FENCE,
      });
    });

    it('looks at the values of the subset for its patterns, and of the clause for its own', () => {
      const like = enc('type LIKE $1');
      const params = `&params[1]=a&subset__params=${enc('{"1":"a\\\\"}')}`;
      expect(codeOf(`?table=entities&where=${like}${params}`)).toBe('passed');
      expect(codeOf(`?table=entities&subset__where=${like}${params}`)).toBe('invalid_where');
      expect(codeOf(`?table=entities&subset__where=${like}&params[1]=a`)).toBe('invalid_where');
    });

    it.each([
      ['a name that is encoded', 't%61ble=entities', 'table=entities'],
      ['a second equals sign', 'table=entities&handle=a=b', 'table=entities&handle=a%3Db'],
      // Some servers take it for another "&".
      ['a semicolon', 'table=entities&handle=a;table=x', 'table=entities&handle=a%3Btable%3Dx'],
      ['a quote', 'table=entities&columns="id"', 'table=entities&columns=%22id%22'],
      ['a parameter without a value', 'table=entities&live', 'table=entities&live='],
      ['a pair of nothing', '&table=entities&&', 'table=entities'],
      ['a plus', 'table=entities&handle=a+%62', 'table=entities&handle=a%20b'],
    ])('sends %s in the one way that it was read', (_, query, sent) => {
      expect(forToken(`?${query}`)).toBe(`?${sent}&where=${enc(FENCE)}`);
    });

    it('fences by the column of the setting', () => {
      const shapes = { tables: ['entities'], tenantColumn: 'Org Unit' };
      expect(forToken('?table=entities', { rules: { shapes } })).toBe(
        `?table=entities&where=${enc(`"Org Unit" = 'acme'`)}`,
      );
    });

    it('does not fence where the setting is empty, and checks all the same', () => {
      const shapes = { tables: ['entities'], tenantColumn: '' };
      const query = '?table=entities&where=a%3D1';
      expect(forToken(query, { rules: { shapes } })).toBe(
        `?table=entities&where=${enc('"a" = 1')}`,
      );
      expect(forToken('?table=entities', { rules: { shapes } })).toBe('?table=entities');
      const breakout = '?table=entities&where=1=1)+OR+(1=1';
      expect(codeOf(breakout, { rules: { shapes } })).toBe('invalid_where');
    });

    it.each([
      '/shapes/v1/shape/',
      '/shapes/v1/shapes',
      '/shapes/v1/%73hape',
      '/shapes/V1/shape',
      '/shapes/v1/shape/x',
      '/shapes/v1/health',
      '/shapes/v1',
      '/shapes/',
    ])('opens no other path: %s', (path) => {
      expect(codeOf('?table=entities', { path })).toBe('prefix_not_covered');
    });

    it.each([
      '',
      '?',
      '?table=',
      '?table=secrets',
      '?table=Entities',
      '?table=%22entities%22',
      '?table=public.entities',
      '?table=entities,secrets',
      '?table=entities%20',
      '?table=+entities',
      '?table=entities%00',
      '?table=toString',
    ])('refuses a table that is not on the list: %j', (query) => {
      expect(codeOf(query)).toBe('table_not_allowed');
    });

    it('opens every table with *, but not none', () => {
      const rules = { shapes: { tables: '*' as const, tenantColumn: 'tenant' } };
      expect(codeOf('?table=anything', { rules })).toBe('passed');
      expect(codeOf('?offset=-1', { rules })).toBe('table_not_allowed');
    });

    it.each([
      '1=1) OR (1=1',
      "type = 'x' -- ",
      "type = 'x' /*",
      "type = 'x'; SELECT 1",
      '$$) OR ($$ = $$',
      "type = E'\\'' OR 1=1 OR type = '",
      '"a)" = 1) OR ("b(" = 1',
      '',
      'id IN (SELECT id FROM secrets)',
      "query_to_xml('select 1', true, true, '') IS NULL",
      '(id IS NULL OR id IS NOT NULL) IS NOT NULL',
    ])('refuses the clause %j, and the same for a subset', (where) => {
      expect(codeOf(`?table=entities&where=${enc(where)}`)).toBe('invalid_where');
      expect(codeOf(`?table=entities&subset__where=${enc(where)}`)).toBe('invalid_where');
    });

    it('takes a quoted name with parentheses in it for a name', () => {
      expect(codeOf(`?table=entities&where=${enc('"a)(" = 1')}`)).toBe('passed');
    });

    it('never sends the clause but inside the fence, nor a deciding parameter twice', () => {
      const name = fc.constantFrom(
        'table',
        'where',
        'columns',
        'params[1]',
        'secret',
        'offset',
        'x',
      );
      const spelled = fc.tuple(name, fc.nat(8)).map(([text, at]) => {
        const char = text[at];
        return char === undefined
          ? text
          : text.replace(char, `%${char.charCodeAt(0).toString(16)}`);
      });
      const value = fc.constantFrom('entities', 'a=1', '1=1) OR (1=1', "'", '', 'x&where=y', '1');
      const pairs = fc.array(fc.tuple(spelled, value), { maxLength: 6 });
      fc.assert(
        fc.property(pairs, (list) => {
          const query = `?${list.map(([key, text]) => `${key}=${enc(text)}`).join('&')}`;
          if (codeOf(query) !== 'passed') return;
          const sent = new URLSearchParams(forToken(query));
          const asked = new URLSearchParams(query).get('where');
          const printed = { 'a=1': '"a" = 1', entities: '"entities"' }[asked ?? ''];
          expect([asked, printed === undefined]).toEqual([asked, asked === null]);
          expect(sent.getAll('where')).toEqual([
            printed === undefined ? FENCE : `(${FENCE}) AND (${printed})`,
          ]);
          expect(sent.getAll('table')).toEqual(['entities']);
          for (const key of ['columns', 'params[1]']) {
            expect(sent.getAll(key).length).toBeLessThanOrEqual(1);
          }
          expect(sent.getAll('secret')).toEqual([]);
        }),
        { numRuns: 3_000 },
      );
    });
  });

  describe('for a read token with a shape', () => {
    const pinned = {
      table: 'secrets',
      where: 'owner = $1',
      params: { 1: 'alice' },
      columns: ['id', 'Note'],
    };
    const good = `table=secrets&where=${enc(pinned.where)}&params[1]=alice&columns=id,%22Note%22`;

    it('passes what it pins, be its table on the list or not, and fences it', () => {
      expect(forToken(`?${good}`, { shape: pinned })).toBe(
        '?table=secrets&params%5B1%5D=alice&columns=id%2C%22Note%22' +
          `&where=${enc(`(${FENCE}) AND (owner = $1)`)}`,
      );
    });

    it.each([
      ['columns in other quotes', good.replace('id,', '%22id%22,+')],
      ['columns folded as SQL does', good.replace('id,', 'ID,')],
      [
        'a part of it in an order',
        `${good}&subset__limit=5&subset__order_by=${enc('ID DESC, "Note"')}`,
      ],
      ['what else there is to a read', `${good}&offset=5_0&handle=h&live=true&replica=full`],
    ])('passes %s', (_, query) => {
      expect(codeOf(`?${query}`, { shape: pinned })).toBe('passed');
    });

    it.each([
      ['another table', good.replace('table=secrets', 'table=entities'), 'table_not_allowed'],
      ['no table', good.replace('table=secrets&', ''), 'table_not_allowed'],
      ['another param', good.replace('alice', 'bob'), 'shape_not_covered'],
      ['no param', good.replace('&params[1]=alice', ''), 'shape_not_covered'],
      ['a further param', `${good}&params[2]=x`, 'shape_not_covered'],
      // A condition on a column that is pinned away, or an order by it, tells its value.
      ['a subset of it', `${good}&subset__where=${enc("pay > '9'")}`, 'shape_not_covered'],
      ['an order by another column', `${good}&subset__order_by=pay`, 'shape_not_covered'],
      ['an order by another, too', `${good}&subset__order_by=id,pay`, 'shape_not_covered'],
      ['an order by a name folded', `${good}&subset__order_by=Note`, 'shape_not_covered'],
      ['an order by more', `${good}&subset__order_by=id%2B1`, 'invalid_order_by'],
      ['another clause', good.replace('owner', 'x'), 'shape_not_covered'],
      ['no clause', good.replace(/where=[^&]*&/, ''), 'shape_not_covered'],
      ['its clause widened', good.replace('%241', '%241%20OR%201%3D1'), 'shape_not_covered'],
      ['its clause with a space more', good.replace('owner', '%20owner'), 'shape_not_covered'],
      ['a further column', `${good},secret`, 'shape_not_covered'],
      ['fewer columns', good.replace('id,', ''), 'shape_not_covered'],
      ['no columns', good.replace(/&columns=.*/, ''), 'shape_not_covered'],
      ['an empty list of columns', good.replace(/columns=.*/, 'columns='), 'shape_not_covered'],
      // Read as the pinned "Note" by one who does not fold, and as note by PostgreSQL.
      [
        'a column that SQL folds to another',
        good.replace('%22Note%22', 'Note'),
        'shape_not_covered',
      ],
      // Passed over by one who looks for names only.
      ['columns with a stray quote', `${good}%22`, 'shape_not_covered'],
      ['columns with a comma too many', `${good},`, 'shape_not_covered'],
      ['columns with two names in one', good.replace('id,', 'id%20x,'), 'shape_not_covered'],
    ])('refuses %s', (_, query, code) => {
      expect(codeOf(`?${query}`, { shape: pinned })).toBe(code);
    });

    it('lets the client narrow what it does not pin', () => {
      const shape = { table: 'entities' };
      const query = `?table=entities&where=${enc('type = $1')}&params[1]=chat&columns=id`;
      expect(new URLSearchParams(forToken(query, { shape })).get('where')).toBe(
        `(${FENCE}) AND ("type" = $1)`,
      );
    });

    it('holds the params that it pins without a clause', () => {
      const shape = { table: 'entities', params: { 1: 'chat' } };
      const query = `?table=entities&where=${enc('type = $1')}&params[1]=`;
      expect(codeOf(`${query}chat`, { shape })).toBe('passed');
      expect(codeOf(`${query}other`, { shape })).toBe('shape_not_covered');
    });

    it('lets no clause of the client look at columns that it does not pin', () => {
      const shape = { table: 'entities', columns: ['id'] };
      const query = '?table=entities&columns=id';
      expect(codeOf(query, { shape })).toBe('passed');
      expect(codeOf(`${query}&where=pay=1`, { shape })).toBe('shape_not_covered');
      expect(codeOf(`${query}&where=id=1`, { shape })).toBe('shape_not_covered');
      expect(codeOf(`${query}&where=`, { shape })).toBe('shape_not_covered');
    });

    it('takes a subset of a pinned clause where it pins no columns', () => {
      const shape = { table: 'entities', where: "type = 'chat'" };
      const query = `?table=entities&where=${enc(shape.where)}&subset__where=${enc("id = 'x'")}`;
      expect(codeOf(query, { shape })).toBe('passed');
    });

    it('wants no params with a clause that has none', () => {
      const shape = { table: 'entities', where: "type = 'chat'" };
      const query = `?table=entities&where=${enc(shape.where)}`;
      expect(codeOf(query, { shape })).toBe('passed');
      expect(codeOf(`${query}&params[1]=x`, { shape })).toBe('shape_not_covered');
    });

    it('lets a pinned clause hold a subquery, and never one of the client', () => {
      const where = 'id IN (SELECT id FROM mine)';
      const shape = { table: 'entities', where };
      const query = `?table=entities&where=${enc(where)}`;
      expect(codeOf(query, { shape })).toBe('passed');
      expect(codeOf(query, { shape: { table: 'entities' } })).toBe('invalid_where');
      expect(codeOf(`${query}&subset__where=${enc(where)}`, { shape })).toBe('invalid_where');
    });

    it('sends a pinned clause as it is pinned, and refuses the same of a client', () => {
      const where = "starts_with(id, current_user)  AND lower(Type)='x' -- why\n";
      const shape = { table: 'entities', where };
      const query = `?table=entities&where=${enc(where)}`;
      expect(new URLSearchParams(forToken(query, { shape })).get('where')).toBe(
        `(${FENCE}) AND (${where})`,
      );
      expect(codeOf(query)).toBe('invalid_where');
    });
  });
});
