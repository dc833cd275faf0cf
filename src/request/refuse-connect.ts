import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { GatewayError } from '../errors/gateway-error.ts';
import { PROBLEM_CONTENT_TYPE, problemBody } from '../errors/problem.ts';
import { requestIdFrom } from './request-id.ts';

/** Answers CONNECT, whose target is no path: the gateway is no tunnel. */
export function refuseConnect(logger: Logger) {
  return (request: IncomingMessage, socket: Duplex): void => {
    const { requestId, code } = refuse(request, socket);
    logger.info({ method: 'CONNECT', status: 400, requestId, code }, 'request');
  };
}

function refuse(request: IncomingMessage, socket: Duplex): { requestId: string; code: string } {
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
