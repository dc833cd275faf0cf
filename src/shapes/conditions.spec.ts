import { describe, expect, it } from '@jest/globals';
import { whereProblem } from './where-clause.ts';

const LOST = 'holds an OR between parentheses that are no condition of their own';

/**
 * Electric writes `("tenant" = 'acme') AND ((a OR b) IS NOT NULL)` anew as
 * `tenant = 'acme' AND a OR b IS NOT NULL`, in 1.4 and in 1.7: with this clause a read token got the
 * rows of every tenant.
 */
describe('an OR between parentheses', () => {
  it.each([
    '(a OR b) IS NOT NULL',
    '(a OR b) IS NULL',
    '(a OR b) IS TRUE',
    '((a OR b)) IS NOT NULL',
    '(c AND (a OR b)) IS NOT NULL',
    'c AND (a OR b) IS NOT NULL',
    '(a OR b) IN (true)',
    'true IN (a OR b)',
    '(a OR b) = ANY(ARRAY[true])',
    'true = ANY(a OR b)',
    '(a OR b) IS NOT DISTINCT FROM true',
    'true IS NOT DISTINCT FROM (a OR b)',
    '(a OR b)::bool',
    'CAST(a OR b AS bool)',
    "(a OR b)::text LIKE 't%'",
    "'true' LIKE (a OR b)",
    '(a OR b) COLLATE "C"',
    "(a OR b) AT TIME ZONE 'UTC'",
    '(a OR b) BETWEEN false AND true',
    'a BETWEEN (a OR b) AND true',
    'a BETWEEN false AND (a OR b)',
    'a BETWEEN SYMMETRIC false AND (a OR b)',
    'a NOT BETWEEN x BETWEEN y AND z AND (a OR b)',
    '(a OR b)[1]',
    'c[a OR b]',
    'ARRAY[a OR b]',
    'coalesce(a OR b, c)',
    '- (a OR b) = c',
    'c = (a OR b)',
    '(a OR b, c) = d',
    'id IN (SELECT id FROM mine WHERE (a OR b) IS NULL)',
    '"not" (a OR b)',
    "'and' (a OR b)",
  ])('is refused in %j, where it may lose them', (where) => {
    expect(whereProblem(where)).toBe(LOST);
  });

  it.each([
    'a OR b',
    '(a OR b)',
    '((a OR b))',
    '(a OR b) AND c',
    'c AND (a OR b) AND NOT (d OR NOT (e OR f))',
    'NOT (a OR b) OR (c OR d)',
    'a IS NULL OR (b IS NOT NULL OR c = ANY(d))',
    'x BETWEEN 1 AND 2 AND (a OR b)',
    '(x BETWEEN 1 AND 2 OR a) AND (b OR c)',
    'x IN (\'or\', "or") AND (a OR b)',
    'id IN (SELECT id FROM mine WHERE a OR (b OR c)) AND (d OR e)',
    '(id IN (SELECT a OR b)) IS NULL',
    '(a AND b) IS NULL',
  ])('passes in %j, where it keeps them', (where) => {
    expect(whereProblem(where)).toBeUndefined();
  });
});
