import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../errors/gateway-error.ts';
import { PROBLEM_CONTENT_TYPE, problemBody } from '../errors/problem.ts';
import type { ClientAddresses } from '../http/client-address.ts';
import { requestIdFrom } from '../http/request-id.ts';
import type { RequestObserver } from '../telemetry/request-observer.ts';
import { RequestRecord } from '../telemetry/request-record.ts';
import type { Connections } from './connections.ts';
import { refuseRaw } from './raw-refusal.ts';

/**
 * Refuses CONNECT, because the gateway is no tunnel. Node passes the connection on as soon as it has parsed the
 * request, while earlier ones may still be in progress. Their responses come first.
 */
export function refuseConnect(
  connections: Connections,
  observers: readonly RequestObserver[],
  addresses: ClientAddresses,
) {
  return (request: IncomingMessage, socket: Socket): void => {
    // Node notices a disconnect only if the connection is read. What the client sends is dropped.
    socket.once('end', () => socket.end()).resume();
    const address = addresses.of({ headers: request.headers, socket });
    connections.whenAnswered(socket, () => {
      if (!socket.destroyed) refuse(request, socket, address, observers);
    });
  };
}

function refuse(
  request: IncomingMessage,
  socket: Socket,
  address: string | undefined,
  observers: readonly RequestObserver[],
): void {
  const requestId = requestIdFrom(request.headers['x-request-id']);
  const context = new RequestRecord(requestId, request.url ?? '', address);
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
