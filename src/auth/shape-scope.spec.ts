import { describe, expect, it } from '@jest/globals';
import { parseShapeScope } from './shape-scope.ts';

describe('parseShapeScope', () => {
  it('reads a claim that pins the table alone', () => {
    expect(parseShapeScope({ table: 'entities' })).toEqual({
      table: 'entities',
      where: undefined,
      params: undefined,
      columns: undefined,
    });
  });

  it('reads a claim that pins everything', () => {
    const claim = {
      table: 'entities',
      where: 'type = $1 AND id = $2',
      params: { 1: 'chat', 2: 'a1' },
      columns: ['url', 'Status'],
    };
    expect(parseShapeScope(claim)).toEqual(claim);
  });

  it.each([
    ['a $n inside a string, which is none', { where: "note = '$5'" }],
    ['a $n inside a quoted name, which is none', { where: '"$5" IS NULL' }],
    ['params without where, for a where of the client', { params: { 1: 'x' } }],
    ['more params than the clause uses', { where: 'a = $1', params: { 1: 'x', 2: 'y' } }],
  ])('takes %s', (_, more) => {
    expect(parseShapeScope({ table: 'entities', ...more })).toMatchObject(more);
  });

  it.each([
    ['a string', 'entities'],
    ['an array', ['entities']],
    ['null', null],
    ['true', true],
    ['no table', {}],
    ['an empty table', { table: '' }],
    ['a table that is an array', { table: ['entities'] }],
    ['an unknown member', { table: 'entities', limit: 1 }],
    ['an empty where', { table: 'entities', where: '' }],
    ['a blank where', { table: 'entities', where: ' ' }],
    ['a where that is an object', { table: 'entities', where: {} }],
    ['a where of null', { table: 'entities', where: null }],
    ['$1 without params', { table: 'entities', where: 'a = $1' }],
    ['$2 without its param', { table: 'entities', where: 'a = $1 OR a = $2', params: { 1: 'x' } }],
    ['$12 without its param', { table: 'entities', where: 'a = $12', params: { 1: 'x' } }],
    ['$01', { table: 'entities', where: 'a = $01', params: { 1: 'x' } }],
    ['params that is an array', { table: 'entities', params: ['x'] }],
    ['params by name', { table: 'entities', params: { a: 'x' } }],
    ['params by 0', { table: 'entities', params: { 0: 'x' } }],
    ['params by 01', { table: 'entities', params: { '01': 'x' } }],
    ['params by 1a', { table: 'entities', params: { '1a': 'x' } }],
    ['params by 12345', { table: 'entities', params: { 12345: 'x' } }],
    ['a param that is a number', { table: 'entities', params: { 1: 1 } }],
    ['a param that is null', { table: 'entities', params: { 1: null } }],
    ['no columns', { table: 'entities', columns: [] }],
    ['columns that are a string', { table: 'entities', columns: 'url' }],
    ['a column that is a number', { table: 'entities', columns: [1] }],
    ['a column that is a number behind one', { table: 'entities', columns: ['url', 1] }],
    ['an empty column', { table: 'entities', columns: [''] }],
    ['a column with a comma', { table: 'entities', columns: ['url,secret'] }],
    ['a column with a quote', { table: 'entities', columns: ['url"'] }],
    ['a column with a space', { table: 'entities', columns: ['url secret'] }],
  ])('refuses %s', (_, claim) => {
    expect(parseShapeScope(claim)).toBeUndefined();
  });

  it('is not taken in by members that every object has', () => {
    const claim = {
      table: 'entities',
      where: 'a = $1',
      params: JSON.parse('{"__proto__":{"1":"x"}}'),
    };
    expect(parseShapeScope(claim)).toBeUndefined();
  });
});
