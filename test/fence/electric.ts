import { comparesAny, rewritten } from './syntax.ts';
import { NOT_COMPARED } from './world.ts';

/** Decodes a query like Plug: pairs between "&", the last one of a name wins, broken escapes stay unchanged. */
export function paramsOf(query: string, separator: RegExp = /&/): Map<string, string> {
  const params = new Map<string, string>();
  for (const pair of query.slice(1).split(separator)) {
    const [name = '', ...value] = pair.split('=');
    params.set(decoded(name), decoded(value.join('=')));
  }
  return params;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/**
 * The clause that Electric 1.4 to 1.7 puts into its SQL: regenerated from its tree, with the params in
 * it (`rebuild_query_with_substituted_parts`). Throws where it is no clause, and where it compares a column whose type
 * Electric does not know (its `known_functions.ex`).
 */
export function electricWhere(where: string, params: ReadonlyMap<string, string>): string {
  const prefix = 'SELECT 1 WHERE ';
  const withParams = where.replace(PARAM_OR_QUOTED, (text, number?: string) =>
    number === undefined ? text : `'${(params.get(number) ?? '').replaceAll("'", "''")}'`,
  );
  const sql = rewritten(prefix + withParams);
  if (!sql.startsWith(prefix)) throw new Error(`no longer a clause: ${sql}`);
  if (comparesAny(sql, NOT_COMPARED)) throw new Error(`has a type without operators: ${sql}`);
  return sql.slice(prefix.length);
}

const PARAM_OR_QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g;

/**
 * The SQL of Electric 1.4 for a query that it gets: of a subset where there is one
 * (`Querying.query_subset`), else of the snapshot. `order_by` is in it as it came.
 */
export function electricSql(query: string, schema: string, columns: readonly string[]): string {
  const params = paramsOf(query);
  const text = (name: string): string | undefined => params.get(name);
  const base = electricWhere(text('where') ?? 'true', paramsIn(params));
  const subset = text('subset__where');
  const subsetParams = new Map(
    Object.entries(JSON.parse(text('subset__params') ?? '{}') as Record<string, string>),
  );
  const where =
    subset === undefined ? base : `${base} AND (${electricWhere(subset, subsetParams)})`;
  const part = (word: string, value: string | undefined): string =>
    value === undefined ? '' : ` ${word} ${value}`;
  return (
    `SELECT ${columns.map((column) => `"${column}"::text`).join(', ')} ` +
    `FROM "${schema}"."${text('table')}" WHERE ${where}` +
    part('ORDER BY', text('subset__order_by')) +
    part('LIMIT', text('subset__limit')) +
    part('OFFSET', text('subset__offset'))
  );
}

function paramsIn(params: ReadonlyMap<string, string>): Map<string, string> {
  const numbered = [...params].map(
    ([name, value]) => [/^params\[(\d+)\]$/.exec(name)?.[1], value] as const,
  );
  return new Map(numbered.filter((entry): entry is [string, string] => entry[0] !== undefined));
}
