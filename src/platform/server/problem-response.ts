import type { ServerResponse } from 'node:http';
import { awaitsContinue, hasBody } from './request-body.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { PROBLEM_CONTENT_TYPE, problemBody } from '../errors/problem.ts';
import type { ClientRequest } from '../http/client-request.ts';
import { dropBody } from './unwanted-body.ts';

/** A refused body is read as long as bytes arrive within the first time, and for the second time at most. */
const LINGER_IDLE_MS = 2_000;
const LINGER_MAX_MS = 30_000;

/** Answers a request with the problem document of an error. The response must not have begun. */
export function sendProblem(
  request: ClientRequest,
  response: ServerResponse,
  error: GatewayError,
  requestId: string,
): void {
  const body = Buffer.from(problemBody(error, requestId));
  response.statusCode = error.status;
  response.setHeader('Content-Type', PROBLEM_CONTENT_TYPE);
  response.setHeader('Content-Length', body.length);
  response.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);

  if (request.complete || !hasBody(request)) {
    response.end(body);
    return;
  }
  // The rest of the body would be read as the next request, so the connection has to close.
  response.setHeader('Connection', 'close');
  dropBody(request, response);
  if (awaitsContinue(request)) response.end(body);
  else endAfterBody(request, response, body);
}

/** Sends the whole response at once. Its end waits a while for the body, after which Node closes the connection. */
function endAfterBody(request: ClientRequest, response: ServerResponse, body: Buffer): void {
  const finish = (): void => {
    clearTimeout(idleTimer);
    clearTimeout(lastTimer);
    response.end();
  };
  const idleTimer = setTimeout(finish, LINGER_IDLE_MS);
  const lastTimer = setTimeout(finish, LINGER_MAX_MS);
  request.once('end', finish).once('close', finish).once('error', finish);
  request.on('data', () => idleTimer.refresh());
  if (request.method === 'HEAD') response.flushHeaders();
  else response.write(body);
}
