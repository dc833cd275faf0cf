import { checkConditions } from './conditions.ts';
import { checkOwnClause } from './own-clause.ts';
import { SqlRefusal, sqlTokens } from './sql-tokens.ts';

/**
 * Whether a where clause stands for itself: put between parentheses it is one whole condition that
 * cannot reach outside of them. So outside of quotes its parentheses balance and never close what they
 * did not open, nothing hides a quote from this reader and not from PostgreSQL, and no OR can lose its
 * parentheses when the sync engine rewrites the clause.
 *
 * @returns what is wrong, or undefined if nothing is.
 */
export function whereProblem(where: string): string | undefined {
  return problemOf(() => checkConditions(sqlTokens(where)));
}

/** The same for a clause of the client's own, of which all has to be known. */
export function ownWhereProblem(where: string): string | undefined {
  return problemOf(() => {
    const tokens = sqlTokens(where);
    checkConditions(tokens);
    checkOwnClause(tokens);
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

/** The fence that keeps a read token to its tenant's rows, around what its holder asked for. */
export function fencedWhere(column: string, tenant: string, where: string | undefined): string {
  const fence = `"${column}" = '${tenant}'`;
  return where === undefined ? fence : `(${fence}) AND (${where})`;
}
