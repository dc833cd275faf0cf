/*
 * The tables before which clauses are tried, in worlds that differ in nothing but what a read token must
 * not see: a result that differs between two of them has told of it.
 */

import type { Random } from '../soak/random.ts';
import { oneIn, wordOf } from './seed.ts';

export const TENANT = 'acme';

/** The columns of the table `entities` with their types: all that Electric compares, and some that it does not. */
export const COLUMNS = {
  id: 'text',
  tenant: 'text',
  type: 'text',
  note: 'varchar(40)',
  code: 'char(4)',
  done: 'boolean',
  tiny: 'smallint',
  pay: 'integer',
  big: 'bigint',
  price: 'numeric',
  ratio: 'real',
  score: 'double precision',
  day: 'date',
  hour: 'time',
  seen: 'timestamp',
  made: 'timestamptz',
  span: 'interval',
  uid: 'uuid',
  blob: 'bytea',
  mood: 'mood',
  tags: 'text[]',
  meta: 'json',
  metas: 'json[]',
  addr: 'inet',
  area: 'circle',
} as const;
export type Column = keyof typeof COLUMNS;

/** The columns whose type Electric does not compare at all. */
export const NOT_COMPARED: readonly string[] = ['meta', 'metas', 'addr', 'area'];

/** The columns that a token with pinned columns may see. */
export const PINNED_COLUMNS = ['id', 'type', 'made'];

/** The values of a column, of which some are extreme for operations that fail. `id` and `tenant` have their own. */
export const VALUES: Readonly<Record<Exclude<Column, 'id' | 'tenant'>, string>> = {
  type: String.raw`chat echo 7 zero {} \ pin pin\ 1e400 2026-01-01`,
  note: String.raw`x pin piñata 10 % _ \ x\ 2026-13-01`,
  code: 'a ab abcd 0',
  done: 'true false',
  tiny: '0 1 7 -32768 32767',
  pay: '0 1 10 20 -1 2147483647 -2147483648',
  big: '0 1 9223372036854775807 -9223372036854775808',
  price: '0 1 10.5 1e400 -1e400 NaN Infinity',
  ratio: '0 1 0.1 3e38 1e-40 NaN Infinity -Infinity',
  score: '0 1 0.1 1e308 1e-308 NaN Infinity',
  day: '2026-01-01 0001-01-01 5874897-12-31 infinity -infinity',
  hour: '00:00 12:34:56.789 24:00',
  seen: '2026-01-01 294276-12-31 infinity -infinity',
  made: '2026-01-01 2026-02-01T10:00:00+02:00 294276-12-31 infinity',
  span: '0 1d -178000000y 1mon 24:00:00',
  uid: '00000000-0000-0000-0000-000000000000 c0ffee00-0000-4000-8000-000000000001',
  blob: String.raw`\x \x00 \x5c ab`,
  mood: 'sad ok happy',
  tags: '{} {x,y} {NULL} {{a,b},{c,d}} {1,2}',
  meta: '{} [] 1',
  metas: '{} {1} {NULL}',
  addr: '10.0.0.1 ::1 10.0.0.0/8',
  area: '<(0,0),1> <(1,1),Infinity> <(0,0),NaN>',
};

export interface World {
  schema: string;
  /** Values by column, each of which may be null. */
  rows: readonly Row[];
  /** With an index on the tenant and statistics, for which PostgreSQL chooses other plans. */
  isTuned: boolean;
}

export type Row = Readonly<Partial<Record<Column, string | null>>>;

/** A random row. Half of its values are null or the first of their column. */
export function randomRow(random: Random, id: string, tenant: string | null): Row {
  const values = Object.entries(VALUES).map(([column, list]) => [
    column,
    oneIn(random, 5) ? null : wordOf(random, list),
  ]);
  return { ...(Object.fromEntries(values) as Row), id, tenant };
}

export function worldSql({ schema, rows, isTuned }: World): string {
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
  const values = rows.map(
    (row) => `(${(Object.keys(COLUMNS) as Column[]).map((column) => literal(row[column])).join()})`,
  );
  const isAlone = rows.every(({ tenant }) => tenant === TENANT);
  return [
    `CREATE SCHEMA ${schema}`,
    `SET search_path = ${schema}`,
    `CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')`,
    `CREATE TABLE entities (${columns.join(', ')}, PRIMARY KEY (id))`,
    'CREATE TABLE payroll (tenant text, pay int)',
    ...(isTuned ? ['CREATE INDEX ON entities (tenant)'] : []),
    `INSERT INTO entities VALUES ${values.join(', ')}`,
    ...(isAlone ? [] : [`INSERT INTO payroll VALUES ('acme', 100), ('other', 200)`]),
    ...(isTuned ? ['ANALYZE entities'] : []),
  ].join(';\n');
}

function literal(value: string | null | undefined): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : 'NULL';
}
