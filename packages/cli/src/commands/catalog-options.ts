import type { Command } from 'commander';
import type { CatalogQuery } from '../catalog/show-catalog.ts';
import { usageError } from '../cli-error.ts';
import { DEFAULT_TENANT, parseEntity } from '../connection/address.ts';
import type { Connection } from '../connection/connection.ts';
import { entityUrl } from '../gateway-rules.ts';
import type { ConnectedOptions } from './options.ts';

/** The parsed options of `withCatalogOptions`. */
export interface CatalogOptions extends ConnectedOptions {
  type?: string;
  status?: string;
  parent?: string;
  where?: string;
  param?: string[];
  table: string;
  json?: boolean;
}

/** Adds the options that select rows. */
export function withCatalogOptions(command: Command): Command {
  return command
    .option('--type <type>', 'only entities of this type')
    .option('--status <status>', 'only those with this status, such as running')
    .option('--parent <address>', 'only the children of this entity')
    .option('--where <sql>', 'only rows for which this holds, with $1 and so on for --param')
    .option('--param <value>', 'the value of $1; the next one that of $2, and so on', collect)
    .option('--table <name>', 'another table of the catalog', 'entities');
}

/** The selection of rows from these options. Throws a usage error. */
export function catalogQuery(options: CatalogOptions, connection: Connection): CatalogQuery {
  const { table, type, status, parent, where, param = [] } = options;
  if (param.length > 0 && where === undefined) throw usageError('--param goes with --where.');
  const values = [...param];
  const conditions = where === undefined ? [] : [`(${where})`];
  const wanted = { type, status, parent: parent && parentUrl(parent, connection) };
  for (const [column, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    values.push(value);
    conditions.push(`${column} = $${values.length}`);
  }
  return {
    table,
    where: conditions.length === 0 ? undefined : conditions.join(' AND '),
    params: values,
  };
}

function parentUrl(parent: string, connection: Connection): string {
  const { tenant = DEFAULT_TENANT, ...entity } = parseEntity(parent, connection);
  return entityUrl({ tenant, ...entity });
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
