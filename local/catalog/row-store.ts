import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { columnNames, columnTypes, primaryKeyOf, TABLES } from './tables.ts';
import type { Row, TableDefinition } from './tables.ts';
import { toTimestamptz } from './timestamps.ts';

const EARLIEST = '1970-01-01 00:00:00+00';

/** The rows, stored in SQLite so that they outlive the process. */
export class RowStore {
  readonly #database: DatabaseSync;

  /** @param path a file, made with its folder where missing, or `:memory:` */
  constructor(path: string) {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    this.#database = new DatabaseSync(path);
    // A write survives the death of this process. Only a crash of the machine can lose the last ones.
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    for (const table of TABLES) this.#database.exec(createStatement(table));
    this.#rewriteTimes();
  }

  /** An earlier version stored times unchanged. An invalid one becomes the earliest time. */
  #rewriteTimes(): void {
    this.#database.function('timestamptz', { deterministic: true }, (text) => {
      return toTimestamptz(String(text)) ?? EARLIEST;
    });
    for (const table of TABLES) {
      for (const name of Object.keys(columnTypes(table))) {
        this.#database.exec(
          `UPDATE "${table.name}" SET "${name}" = timestamptz("${name}") WHERE "${name}" <> timestamptz("${name}")`,
        );
      }
    }
  }

  get(table: TableDefinition, key: string): Row | undefined {
    const found = this.#database
      .prepare(`SELECT * FROM "${table.name}" WHERE "${table.primaryKey}" = ?`)
      .get(key);
    return found === undefined ? undefined : toRow(found);
  }

  /** Every row of the table, in the order of its key. */
  all(table: TableDefinition): Row[] {
    return this.#database
      .prepare(`SELECT * FROM "${table.name}" ORDER BY "${table.primaryKey}"`)
      .all()
      .map(toRow);
  }

  /** Replaces `previous` by `next`, whose key may differ. */
  replace(table: TableDefinition, previous: Row | undefined, next: Row): void {
    const columns = columnNames(table);
    const names = columns.map((name) => `"${name}"`).join(', ');
    const places = columns.map(() => '?').join(', ');
    const moved = previous && primaryKeyOf(table, previous) !== primaryKeyOf(table, next);
    this.#database.exec('BEGIN');
    try {
      if (moved) this.delete(table, primaryKeyOf(table, previous));
      this.#database
        .prepare(`REPLACE INTO "${table.name}" (${names}) VALUES (${places})`)
        .run(...columns.map((name) => next[name] ?? null));
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  delete(table: TableDefinition, key: string): void {
    this.#database.prepare(`DELETE FROM "${table.name}" WHERE "${table.primaryKey}" = ?`).run(key);
  }

  close(): void {
    this.#database.close();
  }
}

function createStatement(table: TableDefinition): string {
  const columns = table.columns.map(
    ({ name, nullable }) =>
      `"${name}" TEXT${nullable === true ? '' : ' NOT NULL'}${name === table.primaryKey ? ' PRIMARY KEY' : ''}`,
  );
  return `CREATE TABLE IF NOT EXISTS "${table.name}" (${columns.join(', ')}) STRICT`;
}

function toRow(found: Record<string, unknown>): Row {
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, typeof value === 'string' ? value : null]),
  );
}
