import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ChangeLog } from './change-log.ts';
import { followLive } from './live-reads.ts';
import { NO_CACHE, sendJson } from './http-answers.ts';
import type { RowStore } from './row-store.ts';
import { offsetAfter, sendInvalid, sendMessages, sendMustRefetch } from './shape-answers.ts';
import type { ShapeHandles } from './shape-handles.ts';
import {
  changeMessages,
  columnsHeader,
  snapshotEnd,
  snapshotMark,
  snapshotMessages,
  upToDateMessage,
} from './shape-messages.ts';
import { InvalidShapeRequest } from './shape-parameters.ts';
import { parseShapeRequest } from './shape-request.ts';
import type { ShapeRequest } from './shape-request.ts';
import { rowsOfSubset } from './subset.ts';

export interface ShapeEngine {
  readonly store: RowStore;
  readonly log: ChangeLog;
  readonly handles: ShapeHandles;
  readonly longPollTimeoutMs: number;
  readonly sseTimeoutMs?: number;
}

/** A request for a shape and its response. */
export interface ShapeExchange {
  readonly engine: ShapeEngine;
  readonly request: ShapeRequest;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Answers `/v1/shape`: at once, or when something happens for a live read. */
export function serveShape(
  engine: ShapeEngine,
  query: URLSearchParams,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  try {
    const request = parseShapeRequest(query);
    serve({ engine, request, req, res });
  } catch (error) {
    if (!(error instanceof InvalidShapeRequest)) throw error;
    sendInvalid(res, error.errors);
  }
}

function serve(exchange: ShapeExchange): void {
  const { engine, request, res } = exchange;
  const { shape, handle, offset, subset } = request;
  if (typeof offset === 'number') {
    if (!engine.handles.isCurrent(handle, shape) || offset < engine.log.base) {
      return sendMustRefetch(res, engine.handles.insteadOf(handle, shape));
    }
    if (offset > engine.log.lsn) {
      throw new InvalidShapeRequest('offset', 'out of bounds for this shape');
    }
  }
  if (subset) return sendSubset(exchange);
  if (offset === 'all') return sendSnapshot(exchange);
  continueFrom(exchange, offset === 'now' ? engine.log.lsn : offset);
}

/** The first of two answers: the rows. The client asks again from their offset, and is then up to date. */
function sendSnapshot({ engine, request, req, res }: ShapeExchange): void {
  const { shape, changesOnly } = request;
  const rows = changesOnly ? [] : engine.store.all(shape.table);
  const { lsn } = engine.log;
  sendMessages(
    req,
    res,
    request,
    {
      handle: engine.handles.current(shape),
      offset: `${lsn}_0`,
      isUpToDate: false,
      hasChanges: true,
    },
    [...snapshotMessages(shape, rows), snapshotEnd(lsn)],
  );
}

function continueFrom(exchange: ShapeExchange, lsn: number): void {
  const { engine, request, req, res } = exchange;
  const { shape, live } = request;
  const messages = engine.log.since(lsn).flatMap((change) => changeMessages(change, shape));
  if (live === 'sse' || (live && messages.length === 0)) return followLive(exchange, messages);
  const handle = request.handle || engine.handles.current(shape);
  const progress = {
    handle,
    offset: offsetAfter(engine.log.lsn, messages),
    isUpToDate: true,
    hasChanges: messages.length > 0,
  };
  sendMessages(req, res, request, progress, [...messages, upToDateMessage(engine.log.lsn)]);
}

function sendSubset({ engine, request, res }: ShapeExchange): void {
  const { shape, handle } = request;
  const { lsn } = engine.log;
  const mark = snapshotMark(lsn);
  const rows = rowsOfSubset(
    request.subset!,
    engine.store.all(shape.table).filter((row) => shape.matches(row) === true),
  );
  const data = snapshotMessages(shape, rows).map(({ headers, ...message }) => ({
    ...message,
    headers: { ...headers, snapshot_mark: mark.snapshot_mark },
  }));
  sendJson(
    res,
    200,
    { metadata: mark, data },
    {
      ...NO_CACHE,
      'electric-snapshot': 'true',
      'electric-handle': handle || engine.handles.current(shape),
      'electric-schema': columnsHeader(shape),
    },
  );
}
