import { columnNames } from './tables.ts';
import type { Column, Row, TableDefinition } from './tables.ts';
import { toTimestamptz } from './timestamps.ts';

/** An invalid write. The message says what to send instead. */
export class InvalidRow extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'InvalidRow';
  }
}

/**
 * Checks what came as a row: a JSON object of known columns, each text or null, with the key.
 * @throws InvalidRow
 */
export function parseRow(table: TableDefinition, bytes: Uint8Array): Row {
  const body = parseObject(bytes);
  const row: Record<string, string | null> = {};
  for (const [name, value] of Object.entries(body)) row[name] = checkValue(table, name, value);
  const key = row[table.primaryKey];
  if (key === undefined || key === null || key === '') {
    throw new InvalidRow(`${table.primaryKey} is required: it is the key of ${table.name}`);
  }
  return row;
}

/**
 * Lays a full or partial row over the stored one.
 * @param now ISO 8601, for the columns that start as the time of the first write
 * @throws InvalidRow if a new row lacks a column
 */
export function mergeRow(
  table: TableDefinition,
  stored: Row | undefined,
  given: Row,
  now: string,
): Row {
  const merged: Record<string, string | null> = {};
  const missing: string[] = [];
  for (const column of table.columns) {
    const value = nextValue(column, stored, given, now);
    if (value === undefined) missing.push(column.name);
    else merged[column.name] = value;
  }
  if (missing.length > 0) {
    throw new InvalidRow(`a new row of ${table.name} also needs ${missing.join(', ')}`);
  }
  return merged;
}

export function isSameRow(table: TableDefinition, a: Row, b: Row): boolean {
  return columnNames(table).every((name) => a[name] === b[name]);
}

function nextValue(
  { name, nullable, startsAsNow, keepsFirst }: Column,
  stored: Row | undefined,
  given: Row,
  now: string,
): string | null | undefined {
  const isGiven = name in given;
  if (stored && (keepsFirst === true || !isGiven)) return stored[name];
  if (isGiven) return given[name];
  if (startsAsNow === true) return toTimestamptz(now);
  return nullable === true ? null : undefined;
}

function parseObject(bytes: Uint8Array): object {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw Object.assign(new InvalidRow('the body must be JSON in UTF-8'), { cause });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidRow('the body must be a JSON object, one property a column');
  }
  return body;
}

function checkValue(table: TableDefinition, name: string, value: unknown): string | null {
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column === undefined) {
    const known = columnNames(table).join(', ');
    throw new InvalidRow(`${JSON.stringify(name)} is no column of ${table.name}: ${known}`);
  }
  if (value === null && column.nullable === true) return null;
  if (column.type === 'timestamptz') {
    const at = typeof value === 'string' ? toTimestamptz(value) : undefined;
    if (at !== undefined) return at;
    throw new InvalidRow(`${name} must be a time such as 2026-11-22T15:34:23.374Z`);
  }
  // Text that neither Postgres nor UTF-8 can represent is refused.
  if (typeof value === 'string' && !value.includes('\0') && value.isWellFormed()) return value;
  throw new InvalidRow(`${name} must be a text${column.nullable === true ? ' or null' : ''}`);
}
