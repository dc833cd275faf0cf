/** A row as the catalog keeps it: every value is text or null, as on Electric's wire. */
export type Row = Readonly<Record<string, string | null>>;

export interface Column {
  readonly name: string;
  /** Default `text`. A `timestamptz` is kept as Postgres writes it, in UTC. */
  readonly type?: 'timestamptz';
  readonly nullable?: boolean;
  /** The time of the first write stands in for a value that was not given. */
  readonly startsAsNow?: boolean;
  /** Later writes leave the first value in place. */
  readonly keepsFirst?: boolean;
}

export interface TableDefinition {
  readonly name: string;
  readonly primaryKey: string;
  readonly columns: readonly Column[];
}

/** The agents of the system: the one table an application watches. */
const ENTITIES: TableDefinition = {
  name: 'entities',
  primaryKey: 'url',
  columns: [
    { name: 'url' },
    { name: 'type' },
    { name: 'id' },
    { name: 'status' },
    { name: 'parent', nullable: true },
    { name: 'tenant' },
    { name: 'created_at', type: 'timestamptz', startsAsNow: true, keepsFirst: true },
    { name: 'updated_at', type: 'timestamptz', startsAsNow: true },
  ],
};

/** A second table, so that there is one which a read token may not read. */
const NOTES: TableDefinition = {
  name: 'notes',
  primaryKey: 'id',
  columns: [{ name: 'id' }, { name: 'tenant' }, { name: 'body', nullable: true }],
};

export const TABLES: readonly TableDefinition[] = [ENTITIES, NOTES];

export function findTable(name: string): TableDefinition | undefined {
  return TABLES.find((table) => table.name === name);
}

export function columnNames(table: TableDefinition): string[] {
  return table.columns.map((column) => column.name);
}

/** The types of the columns that are no text. */
export function columnTypes(table: TableDefinition): Record<string, 'timestamptz'> {
  return Object.fromEntries(
    table.columns.flatMap(({ name, type }) => (type ? [[name, type]] : [])),
  );
}

/** The row's primary key value. A stored row always has one. */
export function primaryKeyOf(table: TableDefinition, row: Row): string {
  const value = row[table.primaryKey];
  if (value === null || value === undefined) throw new Error(`row of ${table.name} without a key`);
  return value;
}

/** `"public"."entities"/"<pk>"`: Electric doubles a slash inside the value, since one slash separates. */
export function messageKey(table: TableDefinition, row: Row): string {
  return `"public"."${table.name}"/"${primaryKeyOf(table, row).replaceAll('/', '//')}"`;
}

/** The `electric-schema` header: what the client parses values with. The columns stand as they come, by their names. */
export function schemaHeader(table: TableDefinition, columns: readonly string[]): string {
  const entries = columns.map((name) => {
    const column = table.columns.find((candidate) => candidate.name === name);
    const type = {
      type: column?.type ?? 'text',
      ...(name === table.primaryKey ? { pk_index: 0 } : {}),
      ...(column?.nullable === true ? {} : { not_null: true }),
    };
    return [name, type];
  });
  return JSON.stringify(Object.fromEntries(entries));
}
