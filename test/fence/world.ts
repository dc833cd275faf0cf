/*
 * The tables before which clauses are tried, in worlds that differ in nothing but what a read token must
 * not see: a result that differs between two of them has told of it.
 */

export const TENANT = 'acme';
/** The columns of the table `entities` with their types. */
export const COLUMNS = {
  id: 'text',
  tenant: 'text',
  type: 'text',
  status: 'text',
  pay: 'int',
  done: 'bool',
  tags: 'text[]',
  made: 'timestamptz',
} as const;
/** The columns that a token with pinned columns may see. */
export const PINNED_COLUMNS = ['id', 'type', 'made'];

const OWN = [
  `'a1', 'acme', 'chat', 'idle', 10, true, '{x,y}', '2026-01-01'`,
  `'a2', 'acme', 'chat', 'other', 20, false, '{}', '2026-02-01'`,
  `'a3', 'acme', 'echo', NULL, NULL, NULL, NULL, NULL`,
  `'a4', 'acme', '7', '1', 30, true, '{1,2,NULL}', '2026-01-01'`,
];
/** Rows that look the same as `OWN` to a reader of the pinned columns. */
const OWN_WITH_OTHERS_HIDDEN = [
  `'a1', 'acme', 'chat', 'busy', NULL, false, '{z}', '2026-01-01'`,
  `'a2', 'acme', 'chat', NULL, 5, true, NULL, '2026-02-01'`,
  `'a3', 'acme', 'echo', 'idle', 40, false, '{x,y}', NULL`,
  `'a4', 'acme', '7', 'x', 0, NULL, '{}', '2026-01-01'`,
];
const OF_OTHERS = [
  `'b1', 'other', 'chat', 'idle', 0, true, '{x}', '2026-03-01'`,
  `'b2', 'acme2', 'zero', 'x', 0, NULL, '{}', '2026-01-01'`,
  `'b3', NULL, NULL, NULL, 2147483647, false, NULL, NULL`,
  `'b4', '', '0', '', -1, true, '{other}', 'infinity'`,
];

export interface World {
  schema: string;
  entities: readonly string[];
  payroll: readonly string[];
}

export const WORLD: World = {
  schema: 'world',
  entities: [...OWN.slice(0, 2), ...OF_OTHERS, ...OWN.slice(2)],
  payroll: [`('acme', 100)`, `('other', 200)`],
};
/** The same rows of the tenant, with everything else removed. */
export const WITHOUT_OTHERS: World = { schema: 'lonely', entities: OWN, payroll: [] };
export const OTHERWISE_HIDDEN: World = {
  ...WORLD,
  schema: 'hidden',
  entities: [
    ...OWN_WITH_OTHERS_HIDDEN.slice(0, 2),
    ...OF_OTHERS,
    ...OWN_WITH_OTHERS_HIDDEN.slice(2),
  ],
};

export function worldSql({ schema, entities, payroll }: World): string {
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
  return [
    `CREATE SCHEMA ${schema}`,
    `CREATE TABLE ${schema}.entities (${columns.join(', ')}, PRIMARY KEY (id))`,
    `CREATE TABLE ${schema}.payroll (tenant text, pay int)`,
    `INSERT INTO ${schema}.entities VALUES ${entities.map((row) => `(${row})`).join(', ')}`,
    ...payroll.map((row) => `INSERT INTO ${schema}.payroll VALUES ${row}`),
  ].join(';\n');
}
