import type { CatalogChange } from '../../../client/src/index.ts';
import { inColumns } from '../output/columns.ts';
import { compactJson } from '../output/json.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';
import type { Format, Style } from '../output/style.ts';

/** The columns of the table `entities` in a list. `address` is type and id together. */
export const USUAL_COLUMNS = ['address', 'status', 'updated_at', 'parent'];

const STATUS_FORMATS: Record<string, Format> = {
  idle: 'green',
  running: 'cyan',
  paused: 'yellow',
  archived: 'dim',
  failing: 'red',
};
const SIGNS = { insert: '+', update: '~', delete: '-' } as const;
const SIGN_FORMATS: Record<CatalogChange['operation'], Format> = {
  insert: 'green',
  update: 'yellow',
  delete: 'red',
};

/** A printed row. It may come from any table. */
export type CatalogRow = Record<string, unknown>;

export interface RowOrder {
  /** A column of the table, or `address`. */
  column: string;
  isDescending: boolean;
}

/** Sorts the rows by the text of one column, and equal ones by their address. */
export function sortedRows<R extends CatalogRow>(rows: readonly R[], order: RowOrder): R[] {
  const sign = order.isDescending ? -1 : 1;
  const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
  return [...rows].sort(
    (one, other) =>
      sign * compare(sortText(one, order.column), sortText(other, order.column)) ||
      compare(addressText(one), addressText(other)),
  );
}

/** The database writes all times in one zone, so they sort as text. */
function sortText(row: CatalogRow, column: string): string {
  if (column === 'address') return addressText(row);
  const value = row[column] ?? '';
  return typeof value === 'string' ? value : compactJson(value);
}

/** The rows as a table with a heading. */
export function rowsText(
  rows: readonly CatalogRow[],
  columns: readonly string[],
  style: Style,
  width?: number,
): string {
  const cells = rows.map((row) => columns.map((column) => cellText(row, column)));
  const heading = columns.map((column) => column.toUpperCase());
  const paint = (cell: string, row: number, column: number): string => {
    if (row === 0) return style('bold', cell);
    return columns[column] === 'status' ? statusText(cell, style) : cell;
  };
  const lines = inColumns([heading, ...cells], paint, width);
  return `${lines.join('\n')}\n`;
}

/** A change as a line: `16:02:11  ~ assistant/ada  status: idle → running`. */
export function changeText(change: CatalogChange, now: Date, style: Style): string {
  const { operation, row, before } = change;
  const time = style('dim', localTime(now.getTime()) ?? '');
  const sign = style(SIGN_FORMATS[operation], SIGNS[operation]);
  const head = `${time}  ${sign} ${cellText(row, 'address')}`;
  const details = operation === 'update' ? updateText(row, before, style) : rowDetails(row, style);
  return `${head}  ${details}`.trimEnd();
}

function updateText(row: CatalogRow, before: CatalogRow, style: Style): string {
  // The line already says that the row changed, so `updated_at` is shown only if nothing else changed.
  const changed = Object.keys(before).filter((column) => column !== 'updated_at');
  const columns = changed.length === 0 ? Object.keys(before) : changed;
  return columns
    .map((column) => {
      const [old, now] = [cellText(before, column), cellText(row, column)];
      return `${plainLine(column)}: ${old || '–'} → ${column === 'status' ? statusText(now, style) : now || '–'}`;
    })
    .join(', ');
}

function rowDetails(row: CatalogRow, style: Style): string {
  const parent = cellText(row, 'parent');
  const status = statusText(cellText(row, 'status'), style);
  return parent === '' ? status : `${status}  of ${parent}`;
}

function statusText(status: string, style: Style): string {
  const format = STATUS_FORMATS[status];
  return format === undefined ? status : style(format, status);
}

/** A short text of a value, empty for a missing one. */
export function cellText(row: CatalogRow, column: string): string {
  if (column === 'address') return addressText(row);
  const value = row[column];
  if (value === null || value === undefined) return '';
  const text = plainLine(typeof value === 'string' ? value : compactJson(value));
  return column.endsWith('_at') ? (localTime(value) ?? text) : text;
}

function addressText(row: CatalogRow): string {
  const { type, id } = row;
  const isEntity = typeof type === 'string' && typeof id === 'string';
  // Rows of another table are named by their first column, usually the key.
  const [first] = Object.keys(row).filter((column) => column !== 'address');
  return isEntity ? plainLine(`${type}/${id}`) : cellText(row, first ?? '');
}
