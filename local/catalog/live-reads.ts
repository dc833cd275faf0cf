import type { ServerResponse } from 'node:http';
import { headersOf, offsetAfter, sendMessages, sendMustRefetch } from './shape-answers.ts';
import type { ShapeExchange } from './shape-handler.ts';
import { changeMessages, upToDateMessage } from './shape-messages.ts';
import type { ShapeMessage } from './shape-messages.ts';

const SSE_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 21_000;

/** Holds a live read. `pending` is what an event stream must send at once. */
export function followLive(exchange: ShapeExchange, pending: readonly ShapeMessage[]): void {
  if (exchange.request.live === 'sse') streamEvents(exchange, pending);
  else park(exchange);
}

/** Holds a long-poll until a relevant change, its timeout or its client's disconnect. */
function park({ engine, request, req, res }: ShapeExchange): void {
  const answer = (messages: readonly ShapeMessage[]): void => {
    unpark();
    const { lsn } = engine.log;
    const { handle } = request;
    const hasChanges = messages.length > 0;
    const progress = { handle, offset: offsetAfter(lsn, messages), isUpToDate: true, hasChanges };
    sendMessages(req, res, request, progress, [...messages, upToDateMessage(lsn)]);
  };
  const unpark = (): void => {
    clearTimeout(timer);
    unfollow();
  };
  const timer = setTimeout(() => answer([]), engine.longPollTimeoutMs);
  const unfollow = engine.log.follow({
    changed(change) {
      const messages = changeMessages(change, request.shape);
      if (messages.length > 0) answer(messages);
    },
    rotated() {
      unpark();
      sendMustRefetch(res);
    },
  });
  // A disconnect shows on the response. After a response it has no effect.
  res.once('close', unpark);
}

/**
 * An event for each message. A reader that is behind gets what is pending and the end of its stream, and must
 * reconnect.
 */
function streamEvents(
  { engine, request, res }: ShapeExchange,
  pending: readonly ShapeMessage[],
): void {
  const { lsn } = engine.log;
  const progress = {
    handle: request.handle,
    offset: offsetAfter(lsn, pending),
    isUpToDate: true,
    hasChanges: true,
  };
  res.writeHead(200, { ...headersOf(request, progress), 'content-type': 'text/event-stream' });
  sendEvents(res, pending, lsn);
  if (pending.length > 0) {
    res.end();
    return;
  }
  const end = (): void => {
    clearTimeout(timer);
    clearInterval(keepAlive);
    unfollow();
    res.end();
  };
  const timer = setTimeout(end, engine.sseTimeoutMs ?? SSE_TIMEOUT_MS);
  const keepAlive = setInterval(() => res.write(': keep-alive\n\n'), KEEP_ALIVE_MS);
  const unfollow = engine.log.follow({
    changed(change) {
      const messages = changeMessages(change, request.shape);
      if (messages.length > 0) sendEvents(res, messages, engine.log.lsn);
    },
    rotated() {
      res.write(eventOf({ headers: { control: 'must-refetch' } }));
      end();
    },
  });
  res.once('close', end);
}

function sendEvents(res: ServerResponse, messages: readonly ShapeMessage[], lsn: number): void {
  res.write([...messages, upToDateMessage(lsn)].map(eventOf).join(''));
}

function eventOf(message: ShapeMessage): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}
