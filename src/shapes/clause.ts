import { quotedName } from './sql-tokens.ts';

/** A condition of a clause, or an operand of one. */
export type Clause =
  | Operand
  /** A comparison. The strings are the gateway's own words; everything from the client is an operand. */
  | { kind: 'test'; parts: readonly (Operand | string)[] }
  | { kind: 'not'; clause: Clause }
  | { kind: 'and' | 'or'; clauses: readonly Clause[] };

export type Operand =
  | { kind: 'column'; name: string }
  | { kind: 'string'; value: string }
  /** Undefined `value`: the request has no such parameter. */
  | { kind: 'parameter'; number: string; value: string | undefined }
  | { kind: 'number'; text: string }
  | { kind: 'true' | 'false' | 'null' };

/**
 * The clause in the gateway's own words: each operand quoted by its kind, each AND, OR and NOT in parentheses. Electric
 * prints a clause again before it asks PostgreSQL, and loses parentheses in other places (libpg_query's deparser).
 */
export function printClause(clause: Clause): string {
  switch (clause.kind) {
    case 'column':
      return quotedName(clause.name);
    case 'string':
      return `'${clause.value.replaceAll("'", "''")}'`;
    case 'parameter':
      return `$${clause.number}`;
    case 'number':
      return clause.text;
    case 'test':
      return clause.parts
        .map((part) => (typeof part === 'string' ? part : printClause(part)))
        .join('');
    case 'not':
      return `(NOT ${printClause(clause.clause)})`;
    case 'and':
    case 'or':
      return `(${clause.clauses.map(printClause).join(` ${clause.kind.toUpperCase()} `)})`;
    default:
      return clause.kind.toUpperCase();
  }
}
