import type { ServerResponse } from 'node:http';
import {
  Catch,
  HttpException,
  Inject,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Logger } from 'pino';
import type { ClientRequest } from '../http/client-request.ts';
import { breakOff } from '../http/break-off.ts';
import { ClientGone } from '../http/client-gone.ts';
import { LOGGER } from '../log/create-logger.ts';
import { requestContext, setAnswerHeaders, type RequestContext } from './request-context.ts';
import { GatewayError, internalError } from '../errors/gateway-error.ts';
import { sendProblem } from './problem-response.ts';

/** Turns every error into a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<ClientRequest>(), http.getResponse<ServerResponse>());
  }

  /** Answers a request with the thrown error. */
  answer(thrown: unknown, request: ClientRequest, response: ServerResponse): void {
    if (thrown instanceof ClientGone || response.destroyed || request.socket.destroyed) return;
    const context = requestContext(request);
    const error = toGatewayError(thrown);
    context.errorCode = error.code;
    if (error.reason !== undefined) context.errorReason = error.reason;
    this.log(error, context);
    if (response.headersSent) {
      // A part of another response was already sent. It is broken off, because a clean end would make it look
      // whole.
      breakOff(response);
      return;
    }
    setAnswerHeaders(response, context);
    sendProblem(request, response, error, context.requestId);
  }

  private log(error: GatewayError, { requestId, traceId }: RequestContext): void {
    if (error.status < 500) return;
    const level = error.code === 'internal_error' ? 'error' : 'warn';
    this.logger[level]({ requestId, traceId, code: error.code, err: error.cause }, error.message);
  }
}

function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof HttpException && thrown.getStatus() === 404) {
    return new GatewayError(
      'route_not_found',
      'There is no such route, or not with this method; the HTTP API document lists them all.',
    );
  }
  return internalError(thrown);
}
