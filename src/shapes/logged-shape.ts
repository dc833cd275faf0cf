import { hash } from 'node:crypto';
import type { ListOrAll } from '../contract/list.decorator.ts';

const DIGEST_LENGTH = 12;

/**
 * What the log says of a shape read with this query: the table, if it is one of `tables`, and digests of the rest, which may
 * hold what nobody should read. Empty for a query without a table.
 */
export function loggedShape(query: string, tables: ListOrAll): Record<string, string | undefined> {
  const parameters = new URLSearchParams(query);
  const table = parameters.get('table');
  if (table === null) return {};
  const where = parameters.get('where');
  return {
    table: tables !== '*' && tables.includes(table) ? table : digest(table),
    where: where === null ? undefined : digest(where),
  };
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, DIGEST_LENGTH);
}
