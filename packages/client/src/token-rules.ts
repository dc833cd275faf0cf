import { checkedPath } from './path.ts';

/** The part of the catalog that a token may read. */
export interface TokenShape {
  /** Such as `entities`. */
  table: string;
  /** A condition in SQL, with `$1`, `$2` … for the values of `params`. */
  where?: string;
  /** The values: the first is `$1`. Or by their numbers: `{ 1: 'idle' }`. */
  params?: readonly string[] | Readonly<Record<string, string>>;
  /** Default: all columns. */
  columns?: readonly string[];
}

const MAX_PREFIXES = 16;
const SHAPE_KEYS = ['table', 'where', 'params', 'columns'];

// The gateway's rules for a token. It answers 401 `invalid_token` for one that breaks them, which helps only the
// page, too late.

/** Throws a TypeError for prefixes that no gateway takes. */
export function checkedPrefix(prefix: string | readonly string[]): string | readonly string[] {
  const prefixes: readonly unknown[] = typeof prefix === 'string' ? [prefix] : prefix;
  const isGood =
    Array.isArray(prefixes) &&
    prefixes.length > 0 &&
    prefixes.length <= MAX_PREFIXES &&
    prefixes.every(
      (path) => typeof path === 'string' && /^\/(?:streams|shapes)(?:\/|$)/.test(path),
    );
  if (!isGood) {
    const rule = 'each /streams or /shapes or a path below it';
    throw new TypeError(`prefix must be a path, or 1 to ${MAX_PREFIXES} of them, ${rule}.`);
  }
  for (const path of prefixes) checkedPath(path as string);
  return prefix;
}

/** The `shape` of a token in its form on the wire. Throws a TypeError for a shape that no gateway takes. */
export function shapeClaim(shape: TokenShape): Record<string, unknown> {
  const { table, where, params, columns } = shape;
  const unknown = Object.keys(shape).find((key) => !SHAPE_KEYS.includes(key));
  if (unknown !== undefined) throw new TypeError(`shape has no ${JSON.stringify(unknown)}.`);
  if (!isText(table)) throw new TypeError('shape.table must be the name of a table.');
  if (where !== undefined && !(isText(where) && where.trim() !== '')) {
    throw new TypeError('shape.where must be a condition.');
  }
  if (columns !== undefined && !isColumnList(columns)) {
    throw new TypeError(
      'shape.columns must be names of columns, without quotes, commas and spaces.',
    );
  }
  const numbered = params === undefined ? {} : numberedParams(params);
  const missing = placeholders(where ?? '').find((number) => !Object.hasOwn(numbered, number));
  if (missing !== undefined) throw new TypeError(`shape.params must have a value for $${missing}.`);
  return {
    table,
    ...(where !== undefined && { where }),
    ...(params !== undefined && { params: numbered }),
    ...(columns && { columns }),
  };
}

/** Values by the numbers of their `$n`, from a list or such an object. */
function numberedParams(params: NonNullable<TokenShape['params']>): Record<string, string> {
  const entries: [string, unknown][] = Array.isArray(params)
    ? params.map((value, index) => [String(index + 1), value])
    : Object.entries(params);
  if (!entries.every(([n, value]) => /^[1-9]\d{0,3}$/.test(n) && typeof value === 'string')) {
    throw new TypeError('shape.params must be texts, as a list or by the numbers of their $n.');
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The numbers of the `$n` in a condition, outside of quotes. */
function placeholders(where: string): string[] {
  const unquoted = where.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, "'");
  return [...unquoted.matchAll(/\$(\d+)/g)].map(([, number = '']) => number);
}

function isColumnList(columns: readonly unknown[]): boolean {
  return (
    Array.isArray(columns) &&
    columns.length > 0 &&
    columns.every((column) => typeof column === 'string' && /^[^",\s\p{Cc}]+$/u.test(column))
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
