import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ChangeLog } from './change-log.ts';
import { sendJson } from './http-answers.ts';
import type { RowStore } from './row-store.ts';
import { InvalidRow, isSameRow, mergeRow, parseRow } from './row-write.ts';
import { primaryKeyOf } from './tables.ts';
import type { Row, TableDefinition } from './tables.ts';

const MAX_ROW_BYTES = 1_048_576;

interface Rows {
  readonly store: RowStore;
  readonly log: ChangeLog;
}

/**
 * `PUT /rows/<table>` writes the row of the body, `DELETE /rows/<table>?<key>=…` takes one away. In
 * the real system the agents write to Postgres; this is the one part that Electric does not have.
 */
export async function serveRows(
  rows: Rows,
  table: TableDefinition,
  query: URLSearchParams,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    const key = query.get(table.primaryKey) ?? undefined;
    if (req.method === 'PUT') putRow(rows, table, key, await readBody(req));
    else if (req.method === 'DELETE') deleteRow(rows, table, key);
    else {
      sendJson(res, 405, { message: 'Use PUT or DELETE' }, { allow: 'PUT, DELETE' });
      return;
    }
    res.writeHead(204).end();
  } catch (error) {
    if (error instanceof BodyTooLarge) sendJson(res, 413, { message: error.message });
    else if (error instanceof InvalidRow) sendJson(res, 400, { message: error.message });
    else throw error;
  }
}

/** @param key the key of the stored row, where the body gives it a new one */
function putRow(
  { store, log }: Rows,
  table: TableDefinition,
  key: string | undefined,
  body: Buffer,
): void {
  const given = parseRow(table, body);
  const newKey = primaryKeyOf(table, given);
  const stored = store.get(table, key ?? newKey);
  if (key !== undefined && key !== newKey) {
    if (stored === undefined)
      throw new InvalidRow(`there is no row ${JSON.stringify(key)} to move`);
    if (store.get(table, newKey)) throw new InvalidRow(`${JSON.stringify(newKey)} is taken`);
  }
  const next: Row = mergeRow(table, stored, given, new Date().toISOString());
  // Postgres' readers see nothing of a write that changes nothing.
  if (stored && isSameRow(table, stored, next)) return;
  store.replace(table, stored, next);
  log.append({ table, old: stored, new: next });
}

function deleteRow({ store, log }: Rows, table: TableDefinition, key: string | undefined): void {
  if (key === undefined) {
    throw new InvalidRow(
      `name the row: ?${table.primaryKey}=<percent-encoded ${table.primaryKey}>`,
    );
  }
  const stored = store.get(table, key);
  if (stored === undefined) return;
  store.delete(table, key);
  log.append({ table, old: stored });
}

class BodyTooLarge extends Error {}

/** Reads even a body that is too long to its end, because ending early would also cut the response off. */
async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_ROW_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_ROW_BYTES) throw new BodyTooLarge(`a row has at most ${MAX_ROW_BYTES} bytes`);
  return Buffer.concat(chunks);
}
