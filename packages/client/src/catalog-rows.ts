/** A row of the catalog as the protocol's client parses it. */
export type CatalogRow = Record<string, unknown>;

/** A change of one row. `row` is complete, even for a delete. */
export interface CatalogChange<R extends CatalogRow = CatalogRow> {
  operation: 'insert' | 'update' | 'delete';
  key: string;
  row: R;
  /** For an update: the former values of the changed columns. */
  before: Partial<R>;
}

/** The used part of a message of the client. */
export interface CatalogMessage<R extends CatalogRow = CatalogRow> {
  key?: string;
  value?: R;
  headers: { operation?: string; control?: string };
}

/**
 * The current rows of a shape. When the engine asks the client to fetch everything again (`must-refetch`, for
 * example after a restart), the new rows are held back until they are complete, and reported as differences:
 * nobody sees rows disappear and return.
 */
export class CatalogRows<R extends CatalogRow = CatalogRow> {
  #rows = new Map<string, R>();
  /** The new rows of a refetch, while it is not complete. */
  #incoming: Map<string, R> | undefined = new Map();

  get rows(): R[] {
    return [...this.#rows.values()];
  }

  /** Whether all rows have been complete once. */
  get isComplete(): boolean {
    return this.#incoming === undefined;
  }

  /** The next messages contain all rows from the first one on. */
  fetchAgain(): void {
    this.#incoming = new Map();
  }

  /** Processes the next messages and returns the changes. */
  apply(messages: readonly CatalogMessage<R>[]): CatalogChange<R>[] {
    const changes: CatalogChange<R>[] = [];
    for (const message of messages) {
      if (message.headers.control === 'must-refetch') this.fetchAgain();
      else if (message.headers.control === 'up-to-date') changes.push(...this.#completed());
      else if (message.key !== undefined) {
        const change = this.#applyOne(this.#incoming ?? this.#rows, message.key, message);
        if (change && !this.#incoming) changes.push(change);
      }
    }
    return changes;
  }

  #applyOne(
    rows: Map<string, R>,
    key: string,
    { headers, value = {} as R }: CatalogMessage<R>,
  ): CatalogChange<R> | undefined {
    const old = rows.get(key);
    if (headers.operation === 'delete') {
      rows.delete(key);
      return old && { operation: 'delete', key, row: old, before: {} };
    }
    // An update contains only the changed columns.
    const row = headers.operation === 'update' ? { ...old, ...value } : value;
    rows.set(key, row);
    return changeOf(key, old, row);
  }

  #completed(): CatalogChange<R>[] {
    const incoming = this.#incoming;
    if (!incoming) return [];
    const old = this.#rows;
    this.#rows = incoming;
    this.#incoming = undefined;
    const gone = [...old].filter(([key]) => !incoming.has(key));
    return [
      ...[...incoming].map(([key, row]) => changeOf(key, old.get(key), row)),
      ...gone.map(([key, row]) => ({ operation: 'delete' as const, key, row, before: {} })),
    ].filter((change) => change !== undefined);
  }
}

function changeOf<R extends CatalogRow>(
  key: string,
  old: R | undefined,
  row: R,
): CatalogChange<R> | undefined {
  if (!old) return { operation: 'insert', key, row, before: {} };
  const columns = new Set([...Object.keys(old), ...Object.keys(row)]);
  const before = [...columns]
    .filter((column) => !isSame(old[column], row[column]))
    .map((column) => [column, old[column] ?? null] as const);
  if (before.length === 0) return undefined;
  return { operation: 'update', key, row, before: Object.fromEntries(before) as Partial<R> };
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return one === other;
  return asText(one) === asText(other);
}

/** JSON cannot represent the large integers of an array. */
function asText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));
}
