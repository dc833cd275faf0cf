import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { tokenQuery } from './token-query.ts';

const RULES = { tenant: 'acme', shapes: { tables: ['entities'], tenantColumn: '' } };

/** The parameters that the gateway sends. */
function sentOf(query: string): string {
  return tokenQuery(query, undefined, RULES).slice(1);
}

function codeOf(query: string): string {
  return thrown(GatewayError, () => sentOf(query))?.code ?? 'passed';
}

const enc = encodeURIComponent;

describe('the parameters of a shape read with a read token', () => {
  it.each([
    'table=entities&table=entities',
    'table=entities&table=secrets',
    'table=entities&%74able=secrets',
    'table=entities&tabl%65=entities',
    'table=entities&where=a&where=b',
    'table=entities&where=a&wh%65re=b',
    'table=entities&columns=a&columns=b',
    'table=entities&params[1]=a&params[1]=b',
    'table=entities&params[1]=a&params%5B1%5D=b',
    'table=entities&offset=-1&offset=-1',
    'table=entities&live=true&live=false',
    'table=entities&subset__where=a&subset__where=b',
    'table=entities&subset__order_by=a&subset__order_by=b',
    'table=entities&subset__params=%7B%7D&subset__params=%7B%7D',
    'table=entities&cache-buster=1&cache%2Dbuster=2',
  ])('refuses what is given twice: %s', (query) => {
    expect(codeOf(`?${query}`)).toBe('duplicate_parameter');
  });

  it.each([
    // Every one that the real client sends by GET, but for the two below.
    'offset=-1&handle=h-1&live=true&cursor=&log=full&replica=full&cache-buster=a-1&expired_handle=h',
    'live_sse=true&experimental_live_sse=true&columns=%22id%22%2C%22Note%22',
    'params%5B1%5D=a&params%5B10%5D=j&params%5B2%5D=b&params%5B3%5D=c&params%5B4%5D=d&' +
      'params%5B5%5D=e&params%5B6%5D=f&params%5B7%5D=g&params%5B8%5D=h&params%5B9%5D=i',
    'subset__params=%7B%221%22%3A%22x%22%7D&subset__limit=10&subset__offset=0&' +
      'subset__order_by=%22id%22%20DESC%20NULLS%20FIRST&subset__where=%22id%22%20%3D%20%241',
  ])('passes what the client sends: %s', (query) => {
    expect(sentOf(`?table=entities&${query}`)).toBe(`table=entities&${query}`);
  });

  it.each([
    'x',
    'queryable_columns',
    'Table',
    'table ',
    'tab\u0000le',
    'columns[',
    'columns[]',
    'params',
    'params[]',
    'params[0]',
    'params[01]',
    'params[+1]',
    'params[ 1]',
    'table[]',
    'table[0]',
    'where[]',
    'params[1',
    'params[1]]',
    'params[1][2]',
    'params[a]',
    'params[1e3]',
    'params[99999]',
    'subset__params[1]',
    'subset__where_expr',
    'subset__order_by_expr',
    'subset',
    'subset[where]',
    'subset__',
    'experimental_compaction',
    'shape_definition',
    'where;',
    '__proto__',
    'toString',
    '',
  ])('refuses the parameter %j, which is not on the list', (name) => {
    expect(codeOf(`?table=entities&${enc(name)}=1`)).toBe('unknown_parameter');
  });

  it.each(['%ff=x', '%=x', 'x=%zz', '\u00e9=x'])(
    'refuses %s, whose name is no known one',
    (pair) => {
      expect(codeOf(`?table=entities&${pair}`)).toBe('unknown_parameter');
    },
  );

  it.each(['params[2]=b', 'params[1]=a&params[3]=c', 'params[2]=b&params[3]=c'])(
    'refuses a gap: %s',
    (params) => {
      expect(codeOf(`?table=entities&${params}`)).toBe('unknown_parameter');
    },
  );

  it.each([
    ['handle=%zz', 'invalid_parameter'],
    ['handle=%ff', 'invalid_parameter'],
    ['offset=%ed%a0%80', 'invalid_parameter'],
    // One character here, and half of one to the engine.
    ['handle=\u00c3\u00a9', 'invalid_parameter'],
    ['where=%c0%ae', 'invalid_where'],
    ["where=id='\u00e9'", 'invalid_where'],
    ['subset__where=%', 'invalid_where'],
    ['params[1]=%00', 'invalid_parameter'],
  ])('refuses a value that servers could read in two ways: %s', (pair, code) => {
    expect(codeOf(`?table=entities&${pair}`)).toBe(code);
  });

  it.each([
    ['subset__limit', ['1', '0', '000000007', '999999999']],
    ['subset__offset', ['0', '12']],
    ['subset__params', ['{}', '{"1":"x"}', '{ "2": "\\u0041", "10": "" }']],
  ])('takes a %s such as %j', (name, values) => {
    for (const value of values) {
      expect(codeOf(`?table=entities&${name}=${enc(value)}`)).toBe('passed');
    }
  });

  it.each([
    ['subset__limit', ['', '-1', '1.0', '1e3', ' 1', '1 ', '+1', '1234567890', '١', '1;', 'all']],
    ['subset__offset', ['', '-0', '(select 1)', '0x1']],
    [
      'subset__params',
      [
        '',
        'x',
        '"x"',
        'null',
        '[]',
        '["x"]',
        '{"1":1}',
        '{"1":null}',
        '{"1":["x"]}',
        '{"0":"x"}',
        '{"01":"x"}',
        '{"a":"x"}',
        '{"1":"a","1":"b"}',
        '{"1":"a","\\u0031":"b"}',
        '{"__proto__":"x"}',
        '{"1":"\\u0000"}',
        '{"1":"x"}x',
      ],
    ],
  ])('refuses a %s such as %j', (name, values) => {
    for (const value of values) {
      expect([value, codeOf(`?table=entities&${name}=${enc(value)}`)]).toEqual([
        value,
        'invalid_parameter',
      ]);
    }
  });

  it('orders a subset by plain columns only', () => {
    const ordered = (by: string) => codeOf(`?table=entities&subset__order_by=${enc(by)}`);
    expect(ordered('"created_at" DESC NULLS LAST, id')).toBe('passed');
    expect(ordered('(select cast(pay as int) from payroll)')).toBe('invalid_order_by');
  });

  it('names what it refuses, but no more of it than can be no credential', () => {
    const detailOf = (query: string) =>
      thrown(GatewayError, () => sentOf(query))?.message.split(' does not pass')[0];
    expect(detailOf('?table=entities&queryable_columns=secret-value')).toBe(
      'The parameter "queryable_columns"',
    );
    expect(detailOf('?params[2]=x')).toBe('The parameter "params[2]"');
    expect(detailOf('?%22%3C%0a%C3%A9=x')).toBe('The parameter "????"');
    expect(detailOf(`?${'a'.repeat(40)}=x`)).toBe('The parameter "aaaaaaaa…"');
    expect(detailOf(`?${'ab_'.repeat(5_000)}=x`)).toBe(
      'The parameter "ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_a…"',
    );
  });
});
