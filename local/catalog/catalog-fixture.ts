import { isChangeMessage, isControlMessage, Shape, ShapeStream } from '@electric-sql/client';
import type { Message, ShapeStreamOptions } from '@electric-sql/client';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { startCatalog } from './catalog-server.ts';
import type { Catalog, CatalogOptions } from './catalog-server.ts';
import type { Row } from './tables.ts';
import './unref-client-timers.ts';

/** The objects that a spec has started. `endAll` ends them in reverse order. */
const started: (() => unknown)[] = [];

export async function endAll(): Promise<void> {
  for (const end of started.splice(0).reverse()) await end();
}

export function endLater(end: () => unknown): void {
  started.push(end);
}

export async function start(options: Partial<CatalogOptions> = {}): Promise<Catalog> {
  const catalog = await startCatalog({ port: 0, databasePath: ':memory:', ...options });
  endLater(() => catalog.stop());
  return catalog;
}

/** Writes a row of `entities`, or a part of an existing one. */
export async function putEntity(
  catalog: Pick<Catalog, 'url'> & { secret?: string | undefined },
  row: Row,
  oldUrl?: string,
): Promise<void> {
  const query = oldUrl === undefined ? '' : `?url=${encodeURIComponent(oldUrl)}`;
  const response = await fetch(`${catalog.url}/rows/entities${query}`, {
    method: 'PUT',
    headers: catalog.secret === undefined ? {} : { authorization: `Bearer ${catalog.secret}` },
    body: JSON.stringify(row),
  });
  if (response.status !== 204) throw new Error(await response.text());
}

export async function deleteEntity(catalog: Catalog, url: string): Promise<void> {
  const address = `${catalog.url}/rows/entities?url=${encodeURIComponent(url)}`;
  const response = await fetch(address, { method: 'DELETE' });
  if (response.status !== 204) throw new Error(await response.text());
}

export function entity(id: string, values: Row = {}): Row {
  return {
    url: `/t/acme/a/echo/${id}`,
    type: 'echo',
    id,
    status: 'idle',
    parent: null,
    tenant: 'acme',
    created_at: '2026-01-01 00:00:00+00',
    updated_at: '2026-01-01 00:00:00+00',
    ...values,
  };
}

/** Requests `/v1/shape` without a client. */
export function readShape(
  catalog: Catalog,
  params: Record<string, string>,
  init?: RequestInit,
): Promise<Response> {
  const query = new URLSearchParams({ table: 'entities', ...params });
  return fetch(`${catalog.url}/v1/shape?${query}`, init);
}

/** The end of a parked read: a response or a cut. */
type Settled = { status: number | undefined; body: unknown } | { brokenOff: string | undefined };

/**
 * Sends a live read and resolves once it is parked: the server writes 100 in the tick in which it handles the
 * request.
 */
export async function parkRead(
  catalog: Catalog,
  params: Record<string, string>,
): Promise<{ settled: Promise<Settled> }> {
  const query = new URLSearchParams({ table: 'entities', live: 'true', ...params });
  const live = request(`${catalog.url}/v1/shape?${query}`, {
    headers: { expect: '100-continue' },
  });
  const settled = new Promise<Settled>((resolve, reject) => {
    live.on('error', (error: NodeJS.ErrnoException) => resolve({ brokenOff: error.code }));
    live.on('response', (response) => {
      json(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    });
  });
  live.end();
  await once(live, 'continue');
  return { settled };
}

export interface Followed {
  readonly stream: ShapeStream<Row>;
  readonly shape: Shape<Row>;
  readonly abort: () => void;
}

/** A real Electric client for a shape. It ends with the test. */
export function follow(
  catalog: Catalog,
  params: ShapeStreamOptions['params'] = {},
  options: Partial<ShapeStreamOptions> = {},
): Followed {
  const controller = new AbortController();
  const stream = new ShapeStream<Row>({
    url: `${catalog.url}/v1/shape`,
    params: { table: 'entities', ...params },
    signal: controller.signal,
    backoffOptions: { initialDelay: 10, maxDelay: 50, multiplier: 1 },
    ...options,
  });
  const shape = new Shape<Row>(stream);
  endLater(() => controller.abort());
  return { stream, shape, abort: () => controller.abort() };
}

export type Seen = ['up-to-date' | 'must-refetch'] | ['insert' | 'update' | 'delete', Row];

/** The messages of a stream: control messages by name, changes by operation and value. */
export function record({ stream }: Followed): Seen[] {
  const seen: Seen[] = [];
  stream.subscribe((messages) => {
    for (const message of messages) {
      if (isChangeMessage(message)) seen.push([message.headers.operation, message.value]);
      else if (isControl(message, 'up-to-date')) seen.push(['up-to-date']);
      else if (isControl(message, 'must-refetch')) seen.push(['must-refetch']);
    }
  });
  return seen;
}

function isControl(message: Message<Row>, control: string): boolean {
  return isControlMessage(message) && message.headers.control === control;
}

/** The shape's rows by url, as soon as `isReady` holds for them. */
export function rowsWhen(
  { shape }: Followed,
  isReady: (rows: readonly Row[]) => boolean,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const check = (rows: Row[]): void => {
      if (shape.error !== false) reject(shape.error);
      else if (shape.isUpToDate && isReady(rows)) resolve(byUrl(rows));
      else return;
      unsubscribe();
    };
    const unsubscribe = shape.subscribe(({ rows }) => check(rows));
    check(shape.currentRows);
  });
}

export function byUrl(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => ((a['url'] ?? '') < (b['url'] ?? '') ? -1 : 1));
}

export function ids(rows: readonly Row[]): (string | null | undefined)[] {
  return rows.map((row) => row['id']);
}
