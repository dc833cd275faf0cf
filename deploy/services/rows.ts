/**
 * `PUT /rows/entities` writes the row of its body to Postgres, as the catalog engine of `local/` writes it
 * to SQLite: DATABASE_URL, ROWS_PORT (default 3001).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';

const UPSERT = `
  INSERT INTO entities
  SELECT * FROM json_populate_record(
    (SELECT row(NULL, NULL, NULL, NULL, NULL, NULL, now(), now())::entities), $1::json)
  ON CONFLICT (url) DO UPDATE SET
    (type, id, status, parent, tenant, updated_at) =
    (excluded.type, excluded.id, excluded.status, excluded.parent, excluded.tenant, excluded.updated_at)`;
/** Postgres' classes of errors that the row is to blame for: no JSON, no such date, a null. */
const ROW_IS_WRONG = /^2[23]/;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4 });
// An idle connection that breaks is replaced by the next query.
pool.on('error', (error) => process.stderr.write(`postgres: ${error.message}\n`));

const server = createServer((request, response) => void answer(request, response));
server.listen(Number(process.env.ROWS_PORT ?? 3001), () => process.stdout.write('listening\n'));
for (const signal of STOP_SIGNALS) process.once(signal, () => process.exit(0));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'PUT' || request.url !== '/rows/entities') {
    send(response, 404, 'PUT /rows/entities is all there is');
    return;
  }
  try {
    await pool.query(UPSERT, [await text(request)]);
    response.writeHead(204).end();
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    send(response, ROW_IS_WRONG.test(code) ? 400 : 503, message);
  }
}

function send(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ message }));
}
