import { isJsonObject } from '../platform/http/parsed-json.ts';

/** The `shape` claim: the shape reads that the token allows. */
export interface ShapeScope {
  table: string;
  where: string | undefined;
  /** The values of parameters by number, as in `$1`. */
  params: Readonly<Record<string, string>> | undefined;
  columns: readonly string[] | undefined;
}

const CLAIM_KEYS = ['table', 'where', 'params', 'columns'];

/** The scope that a `shape` claim states, or undefined if the claim is not of the documented form. */
export function parseShapeScope(claim: unknown): ShapeScope | undefined {
  if (!isJsonObject(claim) || !Object.keys(claim).every((key) => CLAIM_KEYS.includes(key))) {
    return undefined;
  }
  const { table, where, params, columns } = claim;
  if (typeof table !== 'string' || table === '') return undefined;
  if (where !== undefined && (typeof where !== 'string' || where.trim() === '')) return undefined;
  if (params !== undefined && !isParams(params)) return undefined;
  if (columns !== undefined && !isColumnList(columns)) return undefined;
  const used = placeholders(where ?? '');
  if (used.some((number) => params === undefined || !Object.hasOwn(params, number))) {
    return undefined;
  }
  return { table, where, params, columns };
}

/** The numbers of the `$n` in a where clause, outside of quotes. */
function placeholders(where: string): string[] {
  const unquoted = where.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, "'");
  return [...unquoted.matchAll(/\$(\d+)/g)].map(([, number = '']) => number);
}

/** `{"1":"x"}`: strings by the number of their `$n`. */
export function isParams(value: unknown): value is Record<string, string> {
  return (
    isJsonObject(value) &&
    Object.entries(value).every(
      ([number, param]) => /^[1-9]\d{0,3}$/.test(number) && typeof param === 'string',
    )
  );
}

function isColumnList(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((column) => typeof column === 'string' && /^[^",\s\p{Cc}]+$/u.test(column))
  );
}
