import type { CatalogChange } from '../../../client/src/index.ts';
import { inColumns } from '../output/columns.ts';
import { compactJson } from '../output/json.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';
import { joined, styled, text, type Format, type Styled, type Text } from '../output/styled.ts';

/** The columns of the table `entities` in a list. `address` is type and id together. */
export const USUAL_COLUMNS = ['address', 'status', 'updated_at', 'parent'];

const STATUS_FORMATS = new Map<string, Format>(
  Object.entries({
    idle: 'green',
    running: 'cyan',
    waiting: 'magenta',
    paused: 'yellow',
    archived: 'dim',
    failing: 'red',
    failed: 'red',
  }),
);
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
  width?: number,
): Styled {
  const cells = rows.map((row) => columns.map((column) => cellText(row, column)));
  const heading = columns.map((column) => column.toUpperCase());
  const formatOf = (cell: string, row: number, column: number): Format | undefined => {
    if (row === 0) return 'bold';
    return columns[column] === 'status' ? STATUS_FORMATS.get(cell) : undefined;
  };
  return inColumns([heading, ...cells], formatOf, width);
}

/** A change as a line: `16:02:11  ~ assistant/ada  status: idle → running`. */
export function changeText(change: CatalogChange, now: Date): Styled {
  const { operation, row, before } = change;
  const time = styled('dim', localTime(now.getTime()) ?? '');
  const sign = styled(SIGN_FORMATS[operation], SIGNS[operation]);
  const details = operation === 'update' ? updateText(row, before) : rowDetails(row);
  return joined([text`${time}  ${sign} ${cellText(row, 'address')}`, ...details, '\n']);
}

/** Each part begins with the space before it. */
function updateText(row: CatalogRow, before: CatalogRow): Text[] {
  // The line already says that the row changed, so `updated_at` is shown only if nothing else changed.
  const changed = Object.keys(before).filter((column) => column !== 'updated_at');
  const columns = changed.length === 0 ? Object.keys(before) : changed;
  return columns.map((column, index) => {
    const [old, now] = [cellText(before, column), cellText(row, column)];
    const shown = column === 'status' ? statusText(now) : now;
    const space = index === 0 ? '  ' : ', ';
    return text`${space}${plainLine(column)}: ${old || '–'} → ${now === '' ? '–' : shown}`;
  });
}

function rowDetails(row: CatalogRow): Text[] {
  const [parent, status] = [cellText(row, 'parent'), cellText(row, 'status')];
  return [
    ...(status === '' ? [] : [text`  ${statusText(status)}`]),
    ...(parent === '' ? [] : [`  of ${parent}`]),
  ];
}

function statusText(status: string): Styled {
  return styled(STATUS_FORMATS.get(status), status);
}

/** A short text of a value, empty for a missing one. */
export function cellText(row: CatalogRow, column: string): string {
  if (column === 'address') return addressText(row);
  const value = row[column];
  if (value === null || value === undefined) return '';
  const shown = plainLine(typeof value === 'string' ? value : compactJson(value));
  return column.endsWith('_at') ? (localTime(value) ?? shown) : shown;
}

function addressText(row: CatalogRow): string {
  const { type, id } = row;
  const isEntity = typeof type === 'string' && typeof id === 'string';
  // Rows of another table are named by their first column, usually the key.
  const [first] = Object.keys(row).filter((column) => column !== 'address');
  return isEntity ? plainLine(`${type}/${id}`) : cellText(row, first ?? '');
}
