import type { ServerResponse } from 'node:http';
import type { ChangeLog } from './change-log.ts';
import { sendJson } from './http-answers.ts';
import { nextCursor } from './live-cursor.ts';
import type { RowStore } from './row-store.ts';
import type { ShapeHandles } from './shape-handles.ts';
import { changeMessages, snapshotMessages, upToDateMessage } from './shape-messages.ts';
import type { ShapeMessage } from './shape-messages.ts';
import { InvalidShapeRequest, parseShapeRequest } from './shape-request.ts';
import type { Shape, ShapeRequest } from './shape-request.ts';
import { schemaHeader } from './tables.ts';

export interface ShapeEngine {
  readonly store: RowStore;
  readonly log: ChangeLog;
  readonly handles: ShapeHandles;
  readonly longPollTimeoutMs: number;
}

/** Answers `/v1/shape`: at once, or for a live read when something happens. */
export function serveShape(engine: ShapeEngine, query: URLSearchParams, res: ServerResponse): void {
  let request: ShapeRequest;
  try {
    request = parseShapeRequest(query);
  } catch (error) {
    if (!(error instanceof InvalidShapeRequest)) throw error;
    sendJson(res, 400, { message: 'Invalid request', errors: error.errors }, NO_STORE);
    return;
  }
  if (typeof request.offset !== 'number') sendSnapshot(engine, request, res);
  else continueFrom(engine, request, request.offset, res);
}

const NO_STORE = { 'cache-control': 'no-store' };

function sendSnapshot(engine: ShapeEngine, request: ShapeRequest, res: ServerResponse): void {
  const { shape, offset, changesOnly } = request;
  const rows = offset === 'now' || changesOnly ? [] : engine.store.all(shape.table);
  sendMessages(engine, request, engine.handles.mint(shape), snapshotMessages(shape, rows), res);
}

function continueFrom(
  engine: ShapeEngine,
  request: ShapeRequest,
  lsn: number,
  res: ServerResponse,
): void {
  const { shape, handle, live } = request;
  if (!engine.handles.isCurrent(handle, shape, lsn)) {
    sendMustRefetch(engine, shape, res);
    return;
  }
  const messages = engine.log.since(lsn).flatMap((change) => changeMessages(change, shape));
  if (live && messages.length === 0) park(engine, request, res);
  else sendMessages(engine, request, handle, messages, res);
}

/** Holds a live read until a change concerns it, its time is up or its client goes. */
function park(engine: ShapeEngine, request: ShapeRequest, res: ServerResponse): void {
  const { shape, handle } = request;
  const unpark = (): void => {
    clearTimeout(timer);
    unfollow();
  };
  const timer = setTimeout(() => {
    unpark();
    sendMessages(engine, request, handle, [], res);
  }, engine.longPollTimeoutMs);
  const unfollow = engine.log.follow({
    changed(change) {
      const messages = changeMessages(change, shape);
      if (messages.length === 0) return;
      unpark();
      sendMessages(engine, request, handle, messages, res);
    },
    rotated() {
      unpark();
      sendMustRefetch(engine, shape, res);
    },
  });
  // The loss of a client shows on the response; after an answer this changes nothing.
  res.once('close', unpark);
}

function sendMessages(
  engine: ShapeEngine,
  { shape, live, cursor }: ShapeRequest,
  handle: string,
  messages: readonly ShapeMessage[],
  res: ServerResponse,
): void {
  const { lsn } = engine.log;
  sendJson(res, 200, [...messages, upToDateMessage(lsn)], {
    ...NO_STORE,
    'electric-handle': handle,
    'electric-offset': `${lsn}_0`,
    'electric-up-to-date': '',
    'electric-has-data': String(messages.length > 0),
    // The client asks for exactly one of these two: a live answer without a cursor is an error to it.
    ...(live
      ? { 'electric-cursor': nextCursor(cursor, new Date()) }
      : { 'electric-schema': schemaHeader(shape.table, shape.columns) }),
  });
}

function sendMustRefetch(engine: ShapeEngine, shape: Shape, res: ServerResponse): void {
  sendJson(res, 409, [{ headers: { control: 'must-refetch' } }], {
    'cache-control': 'public, max-age=60, must-revalidate',
    'electric-handle': engine.handles.mint(shape),
  });
}
