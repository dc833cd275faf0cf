import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors/gateway-error.ts';
import { PROBLEM_CONTENT_TYPE, problemBody } from '../errors/problem.ts';
import { requestIdFrom } from '../http/request-id.ts';
import type { RequestObserver } from '../telemetry/request-observer.ts';
import { RequestRecord } from '../telemetry/request-record.ts';
import type { Connections } from './connections.ts';
import { refuseRaw } from './raw-refusal.ts';

/**
 * Answers CONNECT, whose target is no path: the gateway is no tunnel. Node hands the connection over as soon as it has
 * parsed the request, while those before it may still be under way: their answers come first.
 */
export function refuseConnect(connections: Connections, observers: readonly RequestObserver[]) {
  return (request: IncomingMessage, socket: Socket): void => {
    // Without a reader nobody would hear that the client has gone. What it sends is thrown away.
    socket.once('end', () => socket.end()).resume();
    connections.whenAnswered(socket, () => {
      if (!socket.destroyed) refuse(request, socket, observers);
    });
  };
}

function refuse(
  request: IncomingMessage,
  socket: Socket,
  observers: readonly RequestObserver[],
): void {
  const requestId = requestIdFrom(request.headers['x-request-id']);
  const context = new RequestRecord(requestId, request.url ?? '');
  const error = new GatewayError('malformed_path', 'CONNECT is not served here.');
  refuseRaw(socket, {
    status: error.status,
    requestId,
    headers: { 'Content-Type': PROBLEM_CONTENT_TYPE },
    body: problemBody(error, requestId),
  });
  context.errorCode = error.code;
  const durationMs = performance.now() - context.startedAtMs;
  const ended = { method: 'CONNECT', status: error.status, isWhole: true, durationMs, context };
  for (const observer of observers) observer.ended(ended);
}
