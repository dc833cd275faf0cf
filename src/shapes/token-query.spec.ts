import { describe, expect, it } from '@jest/globals';
import { parseShapeScope } from '../auth/shape-scope.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { tokenQuery } from './token-query.ts';

const RULES = { tenant: 'acme', shapes: { tables: ['entities'], tenantColumn: 'tenant' } };
const PINNED_WHERE = { table: 'entities', where: 'a = $1', params: { 1: 'x' } };
const PINNED_COLUMNS = { table: 'entities', columns: ['id'] };

/** The code and the detail of a refusal, as the client reads them. */
function refusalOf(query: string, shape?: object): string[] {
  try {
    tokenQuery(query, shape && parseShapeScope(shape), RULES);
  } catch (error) {
    if (error instanceof GatewayError) return [error.code, error.message];
    throw error;
  }
  return [];
}

describe('the refusal of a shape read with a read token', () => {
  const ofEntities = (parameters: string): string => `?table=entities&${parameters}`;
  const pins = (what: string): string =>
    `The read token pins "${what}"; request exactly what it pins.`;
  const TELLS = 'could tell of others; leave it out.';

  it.each<[query: string, pinned: object | undefined, code: string, detail: string]>([
    [
      '?table=x',
      undefined,
      'table_not_allowed',
      'The read token does not cover this table; name one in "table" that it covers.',
    ],
    [
      ofEntities('offset=1&offset=2'),
      undefined,
      'duplicate_parameter',
      'Give the parameter "offset" once only.',
    ],
    [
      ofEntities('offset=%ff'),
      undefined,
      'invalid_parameter',
      'The value of "offset" holds percent-encoding that is broken or not UTF-8, or a raw character.',
    ],
    [
      ofEntities('where=a+NOT'),
      undefined,
      'invalid_where',
      'The clause in "where" ends too early.',
    ],
    [
      ofEntities('subset__where=a+NOT'),
      undefined,
      'invalid_where',
      'The clause in "subset__where" ends too early.',
    ],
    [
      ofEntities('subset__order_by=a+b'),
      undefined,
      'invalid_order_by',
      '"subset__order_by" takes plain column names, each with ASC or DESC and NULLS FIRST or NULLS LAST at most.',
    ],
    [
      ofEntities('subset__limit=ten'),
      undefined,
      'invalid_parameter',
      'Give "subset__limit" as a number of 1 to 9 digits.',
    ],
    [
      ofEntities('subset__offset=-1'),
      undefined,
      'invalid_parameter',
      'Give "subset__offset" as a number of 1 to 9 digits.',
    ],
    [
      ofEntities('subset__params=[]'),
      undefined,
      'invalid_parameter',
      'Give "subset__params" as a JSON object of strings by number: {"1":"x"}.',
    ],
    [
      ofEntities('subset__params={'),
      undefined,
      'invalid_parameter',
      'Give "subset__params" as a JSON object of strings by number: {"1":"x"}.',
    ],
    [
      ofEntities('subset__params={"1":"%5Cu0000"}'),
      undefined,
      'invalid_parameter',
      '"subset__params" must not hold a zero byte.',
    ],
    [
      ofEntities('params[1]=%00'),
      undefined,
      'invalid_parameter',
      '"params[1]" must not hold a zero byte.',
    ],
    [ofEntities('where=b'), PINNED_WHERE, 'shape_not_covered', pins('where')],
    [ofEntities('where=a+=+$1&params[1]=y'), PINNED_WHERE, 'shape_not_covered', pins('params')],
    [ofEntities('columns=note'), PINNED_COLUMNS, 'shape_not_covered', pins('columns')],
    [ofEntities('offset=-1'), PINNED_COLUMNS, 'shape_not_covered', pins('columns')],
    [
      ofEntities('columns=id&where=note'),
      PINNED_COLUMNS,
      'shape_not_covered',
      `The read token pins "columns", and "where" ${TELLS}`,
    ],
    [
      ofEntities('columns=id&subset__where=note'),
      PINNED_COLUMNS,
      'shape_not_covered',
      `The read token pins "columns", and "subset__where" ${TELLS}`,
    ],
    [
      ofEntities('columns=id&subset__order_by=note'),
      PINNED_COLUMNS,
      'shape_not_covered',
      'The read token pins "columns"; order by these alone.',
    ],
  ])('of %s, pinned %j, is %s and says what to send instead', (query, shape, code, detail) => {
    expect(refusalOf(query, shape)).toEqual([code, detail]);
  });
});
