import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../errors/error-codes.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { PROBLEM_CONTENT_TYPE, problemBody } from '../errors/problem.ts';
import type { RequestObserver } from '../telemetry/request-observer.ts';
import { requestIdFrom } from './request-id.ts';

/** Answers CONNECT, whose target is no path: the gateway is no tunnel. */
export function refuseConnect(observers: readonly RequestObserver[]) {
  return (request: IncomingMessage, socket: Duplex): void => {
    const startedAtMs = performance.now();
    const { requestId, code } = refuse(request, socket);
    const context = {
      requestId,
      path: request.url ?? '',
      query: '',
      startedAtMs,
      errorCode: code,
    };
    const durationMs = performance.now() - startedAtMs;
    const ended = { method: 'CONNECT', status: 400, isWhole: true, durationMs, context };
    for (const observer of observers) observer.ended(ended);
  };
}

function refuse(request: IncomingMessage, socket: Duplex): { requestId: string; code: ErrorCode } {
  const requestId = requestIdFrom(request.headers['x-request-id']);
  const error = new GatewayError('malformed_path', 'CONNECT is not served here.');
  const body = problemBody(error, requestId);
  socket.on('error', () => socket.destroy());
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  return { requestId, code: error.code };
}
