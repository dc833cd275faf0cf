import type { LoggedChange } from './change-log.ts';
import type { Shape } from './shape-definition.ts';
import { messageKey, primaryKeyOf, schemaHeader } from './tables.ts';
import type { Row } from './tables.ts';

export interface ShapeMessage {
  readonly key?: string;
  readonly value?: Row;
  readonly old_value?: Row;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Operation = 'insert' | 'update' | 'delete';
type RowMessage = Omit<ShapeMessage, 'headers'> & { readonly operation: Operation };

export function upToDateMessage(lsn: number): ShapeMessage {
  return { headers: { control: 'up-to-date', global_last_seen_lsn: String(lsn) } };
}

/** The transactions in a snapshot. A client skips their changes when it sees them again. */
export function snapshotMark(lsn: number) {
  const next = String(lsn + 1);
  return { snapshot_mark: lsn, database_lsn: String(lsn), xmin: next, xmax: next, xip_list: [] };
}

/** The message at the end of a snapshot, which is not up to date yet. */
export function snapshotEnd(lsn: number): ShapeMessage {
  const { xmin, xmax, xip_list } = snapshotMark(lsn);
  return { headers: { control: 'snapshot-end', xmin, xmax, xip_list } };
}

export function columnsHeader({ table, columns }: Shape): string {
  return schemaHeader(table, columns);
}

/** All matching rows, for the first response to `offset=-1`. */
export function snapshotMessages(shape: Shape, rows: readonly Row[]): ShapeMessage[] {
  return rows
    .filter((row) => shape.matches(row) === true)
    .map((row) => ({
      key: messageKey(shape.table, row),
      value: pick(row, shape.columns),
      headers: { operation: 'insert', relation: ['public', shape.table.name] },
    }));
}

/** The messages of one change for a reader of the shape: up to two, or none. */
export function changeMessages(change: LoggedChange, shape: Shape): ShapeMessage[] {
  if (change.table !== shape.table) return [];
  const before = change.old && shape.matches(change.old) === true ? change.old : undefined;
  const after = change.new && shape.matches(change.new) === true ? change.new : undefined;
  const messages = rowMessages(shape, before, after);
  return messages.map(({ operation, ...message }, index) => ({
    ...message,
    headers: {
      operation,
      relation: ['public', shape.table.name],
      lsn: String(change.lsn),
      op_position: index,
      txids: [change.lsn],
      ...(index === messages.length - 1 ? { last: true } : {}),
    },
  }));
}

/** `before` and `after` are the row if it matches the filter. */
function rowMessages(shape: Shape, before: Row | undefined, after: Row | undefined): RowMessage[] {
  const { table } = shape;
  if (before && after && primaryKeyOf(table, before) === primaryKeyOf(table, after)) {
    return updateMessages(shape, before, after);
  }
  return [
    ...(before ? [deleteMessage(shape, before)] : []),
    ...(after ? [insertMessage(shape, after)] : []),
  ];
}

function insertMessage(shape: Shape, row: Row): RowMessage {
  return {
    operation: 'insert',
    key: messageKey(shape.table, row),
    value: pick(row, shape.columns),
  };
}

function deleteMessage(shape: Shape, row: Row): RowMessage {
  const columns = shape.replica === 'full' ? shape.columns : [shape.table.primaryKey];
  return { operation: 'delete', key: messageKey(shape.table, row), value: pick(row, columns) };
}

function updateMessages(shape: Shape, before: Row, after: Row): RowMessage[] {
  const changed = shape.columns.filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return [];
  const key = messageKey(shape.table, after);
  if (shape.replica === 'full') {
    return [
      {
        operation: 'update',
        key,
        value: pick(after, shape.columns),
        old_value: pick(before, changed),
      },
    ];
  }
  return [{ operation: 'update', key, value: pick(after, [shape.table.primaryKey, ...changed]) }];
}

function pick(row: Row, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((name) => [name, row[name] ?? null]));
}
