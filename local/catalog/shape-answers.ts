import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { NO_STORE, sendJson } from './http-answers.ts';
import { nextCursor } from './live-cursor.ts';
import { columnsHeader } from './shape-messages.ts';
import type { ShapeMessage } from './shape-messages.ts';
import type { ShapeRequest } from './shape-request.ts';

/** Electric's `Cache-Control` by the kind of the response. */
const CACHE_CONTROL = {
  snapshot: 'public, max-age=604800, s-maxage=3600, stale-while-revalidate=2629746',
  'catch-up': 'public, max-age=60, stale-while-revalidate=300',
  'long-poll': 'public, max-age=5, stale-while-revalidate=5',
  sse: 'public, max-age=59',
};
const MUST_REFETCH = [{ headers: { control: 'must-refetch' } }];

/** A 200 and the offset up to which it goes. */
export interface Progress {
  readonly handle: string;
  readonly offset: string;
  /** False only for the first part of a snapshot. */
  readonly isUpToDate: boolean;
  readonly hasChanges: boolean;
}

/** A response without changes ends after everything at its number, like Electric's second one: `0_inf`. */
export function offsetAfter(lsn: number, messages: readonly unknown[]): string {
  return `${lsn}_${messages.length > 0 ? 0 : 'inf'}`;
}

export function headersOf(request: ShapeRequest, progress: Progress): OutgoingHttpHeaders {
  const { shape, live, cursor, offset } = request;
  const { handle, isUpToDate, hasChanges } = progress;
  return {
    'cache-control': CACHE_CONTROL[live ?? (offset === 'all' ? 'snapshot' : 'catch-up')],
    etag: etagOf(request, progress),
    'electric-handle': handle,
    'electric-offset': progress.offset,
    ...(isUpToDate ? { 'electric-up-to-date': '' } : {}),
    // Electric says so for an empty catch-up too.
    'electric-has-data': String(live === undefined || hasChanges),
    // The client requires exactly one of these two. A live response without a cursor is an error for it.
    ...(live
      ? { 'electric-cursor': nextCursor(cursor, new Date()) }
      : { 'electric-schema': columnsHeader(shape) }),
  };
}

/** An empty live response never has the same one, so that a revalidation waits again. */
function etagOf({ live, from }: ShapeRequest, { handle, offset, hasChanges }: Progress): string {
  const unique = live && !hasChanges ? `:${process.hrtime.bigint()}` : '';
  return `"${handle}:${from}:${offset}${unique}"`;
}

export function sendMessages(
  req: IncomingMessage,
  res: ServerResponse,
  request: ShapeRequest,
  progress: Progress,
  messages: readonly ShapeMessage[],
): void {
  const headers = headersOf(request, progress);
  const known = req.headers['if-none-match']?.split(',').map((etag) => etag.trim()) ?? [];
  if (known.includes(String(headers['etag']))) res.writeHead(304, headers).end();
  else sendJson(res, 200, messages, headers);
}

/** @param handle the one to continue with; a parked read gets none, and the response may be cached only briefly */
export function sendMustRefetch(res: ServerResponse, handle?: string): void {
  sendJson(res, 409, MUST_REFETCH, {
    'cache-control': `public, max-age=${handle === undefined ? 1 : 60}, must-revalidate`,
    ...(handle === undefined ? {} : { 'electric-handle': handle }),
  });
}

export function sendInvalid(res: ServerResponse, errors: unknown): void {
  sendJson(res, 400, { message: 'Invalid request', errors }, NO_STORE);
}
