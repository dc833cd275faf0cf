/*
 * The tables before which clauses are tried, in worlds that differ in nothing but what a read token must
 * not see: a result that differs between two of them has told of it.
 */

import type { Random } from '../soak/random.ts';

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

/**
 * The ordinary values of a column. Operations that fail for some value do not fail for these. `id` and `tenant` have their
 * own.
 */
const ORDINARY: Readonly<Record<Exclude<Column, 'id' | 'tenant'>, string>> = {
  type: 'chat echo',
  note: 'x 10',
  code: 'a ab',
  done: 'true false',
  tiny: '1 7',
  pay: '1 10 20',
  big: '1 7',
  price: '1 10.5',
  ratio: '1 0.1',
  score: '1 0.1',
  day: '2026-01-01',
  hour: '12:34:56.789',
  seen: '2026-01-01',
  made: '2026-01-01 2026-02-01T10:00:00+02:00',
  span: '1d 1mon',
  uid: 'c0ffee00-0000-4000-8000-000000000001',
  blob: 'ab',
  mood: 'sad ok',
  tags: '{x,y} {1,2}',
  meta: '1',
  metas: '{1}',
  addr: '10.0.0.1',
  area: '<(0,0),1>',
};

/** Values for which operations fail. No row of the tenant has them: its own rows would fail with and without the others. */
const EXTREME: typeof ORDINARY = {
  type: String.raw`7 zero {} \ pin pin\ 1e400 2026-01-01`,
  note: String.raw`pin piñata % _ \ x\ 2026-13-01`,
  code: 'abcd 0',
  done: 'false',
  tiny: '0 -32768 32767',
  pay: '0 -1 2147483647 -2147483648',
  big: '0 9223372036854775807 -9223372036854775808',
  price: '0 1e400 -1e400 NaN Infinity',
  ratio: '0 3e38 1e-40 NaN Infinity -Infinity',
  score: '0 1e308 1e-308 NaN Infinity',
  day: '0001-01-01 5874897-12-31 infinity -infinity',
  hour: '00:00 24:00',
  seen: '294276-12-31 infinity -infinity',
  made: '294276-12-31 infinity',
  span: '0 -178000000y 24:00:00',
  uid: '00000000-0000-0000-0000-000000000000',
  blob: String.raw`\x \x00 \x5c`,
  mood: 'happy',
  tags: '{} {NULL} {{a,b},{c,d}}',
  meta: '{} []',
  metas: '{} {NULL}',
  addr: '::1 10.0.0.0/8',
  area: '<(1,1),Infinity> <(0,0),NaN>',
};

/** All values, as a condition may name them. */
export const VALUES = Object.fromEntries(
  Object.entries(ORDINARY).map(([column, list]) => [
    column,
    `${list} ${EXTREME[column as keyof typeof EXTREME]}`,
  ]),
) as typeof ORDINARY;

export interface World {
  schema: string;
  /** Values by column, each of which may be null. */
  rows: readonly Row[];
  /** With an index on the tenant and statistics, for which PostgreSQL chooses other plans. */
  isTuned: boolean;
}

export type Row = Readonly<Partial<Record<Column, string | null>>>;

/** A random row of the tenant or of another. Some of its values are null. */
export function randomRow(random: Random, id: string, tenant: string | null): Row {
  const values = Object.entries(tenant === TENANT ? ORDINARY : VALUES).map(([column, list]) => [
    column,
    random.oneIn(5) ? null : random.word(list),
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
