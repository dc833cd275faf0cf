import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { breakOff, destroyAnswer } from '../http/break-off.ts';
import { addressOf } from '../http/client-address.ts';
import { requestIdFrom } from '../http/request-id.ts';
import { contextOf } from './request-context.ts';
import { isReadMethod } from '../http/client-request.ts';
import type { ParserReason } from '../errors/gateway-error.ts';
import type { RequestObserver } from '../telemetry/request-observer.ts';
import { RequestRecord } from '../telemetry/request-record.ts';
import type { Exchange } from './connection.ts';
import type { Connections } from './connections.ts';
import { refusalText, refuseRaw, type RawRefusal } from './raw-refusal.ts';

/** The status for errors of Node's parser and for timeouts. Any other error is 400. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers bytes that Node cannot parse as a request, and requests that do not arrive in time. The log and the
 * metrics count them. The connection is closed, because nobody can tell where its next request begins. An earlier
 * request that changes something gets its response first, so that its client learns the result.
 */
export function refuseUnparsed(connections: Connections, observers: readonly RequestObserver[]) {
  const refused = new WeakSet<Socket>();

  const tell = (
    socket: Socket,
    { status, reason, requestId }: { status: number; reason: ParserReason; requestId: string },
  ): void => {
    // Without a head, nobody but the connection says whose it is.
    const context = new RequestRecord(requestId, '', addressOf(socket));
    context.errorReason = reason;
    const ended = { method: '', status, isWhole: true, durationMs: 0, context };
    for (const observer of observers) observer.ended(ended);
  };

  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    const reason = parserReason(error.code);
    if (reason === undefined) {
      socket.destroy(error);
      return;
    }
    // The parser refuses everything after it too.
    if (refused.has(socket)) return;
    // What comes after the last request of a connection is no request. The earlier ones get their responses.
    if (connections.hasItsLast(socket)) {
      socket.pause();
      return;
    }
    refused.add(socket);
    const status = STATUS_BY_CODE[reason] ?? 400;
    const exchanges = connections.exchanges(socket);
    const last = exchanges.at(-1);
    // The request itself is refused, in the middle of its body.
    const broken = last && !last.request.complete ? last : undefined;
    // A read that arrived in this turn of the event loop has no context yet, and gets none.
    const isKnown = broken !== undefined && contextOf(broken.request) !== undefined;
    const requestId = markRefused(broken, status, reason);
    const earlier = exchanges.filter((exchange) => exchange !== broken);
    if (earlier.some(({ request }) => !isReadMethod(request.method ?? ''))) {
      if (broken) destroyAnswer(broken.response);
      socket.once('end', () => socket.destroy());
      connections.whenAnswered(socket, () => {
        if (!socket.destroyed) refuseRaw(socket, { status, requestId });
        if (!isKnown) tell(socket, { status, reason, requestId });
      });
      return;
    }
    // The client would take a refusal for the response to its read.
    if (earlier.length > 0) socket.destroy();
    else if (!broken) refuseRaw(socket, { status, requestId });
    else refuseInPlace(broken.response, { status, requestId });
    if (!isKnown) tell(socket, { status, reason, requestId });
  };
}

/** Logs that a request was refused and why. Returns the id for the response. */
function markRefused(exchange: Exchange | undefined, status: number, reason: ParserReason): string {
  const context = exchange && contextOf(exchange.request);
  if (!context) return requestIdFrom(exchange?.request.headers['x-request-id']);
  context.errorReason = reason;
  if (!exchange.response.headersSent) context.refusedStatus = status;
  return context.requestId;
}

function refuseInPlace(response: ServerResponse, refusal: RawRefusal): void {
  const { socket } = response;
  if (!response.headersSent && socket?.writable) socket.write(refusalText(refusal));
  breakOff(response);
}

function parserReason(code: string | undefined): ParserReason | undefined {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' || code?.startsWith('HPE_')
    ? (code as ParserReason)
    : undefined;
}
