import { checkConditions } from './conditions.ts';
import { checkOwnClause } from './own-clause.ts';
import { SqlRefusal, sqlTokens } from './sql-tokens.ts';

/**
 * Checks that a where clause is one whole condition that cannot reach outside of parentheses around it. Outside
 * quotes its parentheses balance and never close one that they did not open, nothing hides a quote from this parser
 * but not from PostgreSQL, and no OR can lose its parentheses when the sync engine rewrites the clause.
 *
 * @returns what is wrong, or undefined if nothing is.
 */
export function whereProblem(where: string): string | undefined {
  return problemOf(() => checkConditions(sqlTokens(where)));
}

/** The same check for a clause that a client wrote. Every part of it must be known. `params` are the values of `$n`. */
export function ownWhereProblem(
  where: string,
  params: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  return problemOf(() => {
    const tokens = sqlTokens(where);
    checkConditions(tokens);
    checkOwnClause(tokens, params);
  });
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof SqlRefusal) return error.message;
    throw error;
  }
}

/** Adds the condition that limits a read token to its tenant's rows to the requested clause. */
export function fencedWhere(column: string, tenant: string, where: string | undefined): string {
  const fence = `"${column}" = '${tenant}'`;
  return where === undefined ? fence : `(${fence}) AND (${where})`;
}
