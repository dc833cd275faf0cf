import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hasCredential, isFromPage } from '../stack/door.ts';
import { ChangeLog } from './change-log.ts';
import { answerPreflight, NO_STORE, sendJson, setElectricCors } from './http-answers.ts';
import { RowStore } from './row-store.ts';
import { serveRows } from './rows-handler.ts';
import { serveShape } from './shape-handler.ts';
import type { ShapeEngine } from './shape-handler.ts';
import { ShapeHandles } from './shape-handles.ts';
import { readParameter } from './shape-parameters.ts';
import { findTable } from './tables.ts';

export interface CatalogOptions {
  /** 0 means a free port. */
  port: number;
  /** Default `127.0.0.1`. */
  host?: string;
  /** The SQLite file, or `:memory:`. */
  databasePath: string;
  /**
   * The secret that requests of `/v1/shape` must have as `secret` (or `api_secret`, its older name), and those that write rows as
   * `Authorization: Bearer …`. No page writes rows.
   */
  secret?: string;
  /** How long a live read is held; default 20 s, as in Electric. */
  longPollTimeoutMs?: number;
  /** How long an event stream lasts; default 60 s, as in Electric. */
  sseTimeoutMs?: number;
  /** How many changes a reader may lag behind before it gets a 409; default 10,000. */
  maxLoggedChanges?: number;
}

export interface Catalog {
  readonly url: string;
  readonly port: number;
  /** Invalidates every handle, parked reads included, like Electric when it drops a shape. */
  rotate(): void;
  /** Breaks off all open requests, parked reads included. */
  stop(): Promise<void>;
}

/** Electric's limit. Beyond it the response is empty. */
const MAX_REQUEST_LINE_BYTES = 10_000;

/** Starts the catalog engine of one machine: a stand-in for Electric. */
export async function startCatalog(options: CatalogOptions): Promise<Catalog> {
  const { host = '127.0.0.1', secret, longPollTimeoutMs = 20_000, sseTimeoutMs } = options;
  const store = new RowStore(options.databasePath);
  const log = new ChangeLog(options.maxLoggedChanges ?? 10_000);
  const engine = { store, log, handles: new ShapeHandles(log), longPollTimeoutMs, sseTimeoutMs };
  const server = createServer(catalogListener(engine, secret));
  // Longer than a pooling client keeps an idle connection, so that it does not meet a closed one.
  server.keepAliveTimeout = 60_000;
  try {
    server.listen(options.port, host);
    await once(server, 'listening');
  } catch (error) {
    store.close();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    rotate: () => log.rotate(),
    stop: () => (stopped ??= close()),
  };

  async function close(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    store.close();
  }
}

/** The HTTP face of an engine. */
export function catalogListener(engine: ShapeEngine, secret?: string): RequestListener {
  return (req, res) => {
    route(engine, secret, req, res).catch((error: unknown) => {
      // A client that disconnected within its body is no error of ours and gets no response.
      if (!req.readableAborted) console.error('catalog:', error);
      if (res.headersSent) res.destroy();
      else sendJson(res, 500, { message: 'Internal error' });
    });
  };
}

async function route(
  engine: ShapeEngine,
  secret: string | undefined,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const [path = '', search = ''] = splitTarget(req.url ?? '/');
  const query = new URLSearchParams(search);
  const segments = pathSegments(path);
  if (segments === undefined) return sendJson(res, 400, { message: 'Malformed path' });
  const [root, name, ...rest] = segments;
  if (root === 'rows' && name !== undefined && rest.length === 0) {
    if (secret !== undefined && !hasCredential(req, secret)) {
      return sendJson(res, 401, { message: 'Unauthorized' });
    }
    if (isFromPage(req)) return sendJson(res, 403, { message: 'No page may write rows' });
    const table = findTable(name);
    if (table) return serveRows(engine, table, query, req, res);
    return sendJson(res, 404, { message: `There is no table ${JSON.stringify(name)}` });
  }
  serveElectric(
    engine,
    secret,
    { place: segments.map(encodeURIComponent).join('/'), query },
    req,
    res,
  );
}

function serveElectric(
  engine: ShapeEngine,
  secret: string | undefined,
  { place, query }: { place: string; query: URLSearchParams },
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  res.setHeader('vary', 'accept-encoding');
  res.setHeader('electric-server', 'stand-in of agent-gateway');
  if (Buffer.byteLength(`${req.method} ${req.url} HTTP/1.1`) > MAX_REQUEST_LINE_BYTES) {
    res.writeHead(414).end();
    return;
  }
  if (place === 'v1/shape' && req.method !== 'OPTIONS' && !isAuthorized(query, secret)) {
    // It has no CORS headers, as in Electric, so a browser sees a network error.
    res.writeHead(401, NO_STORE).end('{"message":"Unauthorized - Invalid API secret"}');
    return;
  }
  setElectricCors(req, res);
  if (place === 'v1/shape' && isRead) return serveShape(engine, query, req, res);
  if (place === 'v1/shape' && req.method === 'OPTIONS') return answerPreflight(req, res);
  if (place === 'v1/health' && isRead) return sendJson(res, 200, { status: 'active' }, NO_STORE);
  res.writeHead(404).end('Not found');
}

function isAuthorized(query: URLSearchParams, secret: string | undefined): boolean {
  if (secret === undefined) return true;
  return (readParameter(query, 'secret') ?? readParameter(query, 'api_secret')) === secret;
}

function splitTarget(target: string): string[] {
  const mark = target.indexOf('?');
  return mark === -1 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Reads a path like Electric's router, which drops empty segments: `/v1//shape` is `/v1/shape`. */
function pathSegments(path: string): string[] | undefined {
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
