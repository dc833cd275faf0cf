import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { requestContext } from '../server/request-context.ts';
import { idempotencyKeyIn } from './idempotency-key.interceptor.ts';
import { traceHeaders, type CommandCall } from './command-headers.ts';

/** What of the request goes on to the runtime beside the body. */
export const Call = createParamDecorator((_: unknown, execution: ExecutionContext): CommandCall => {
  const request = execution.switchToHttp().getRequest<Request>();
  const response = execution.switchToHttp().getResponse<Response>();
  const context = requestContext(request);
  return {
    context,
    idempotencyKey: idempotencyKeyIn(context),
    trace: traceHeaders(request.headers),
    contentType: request.headers['content-type'],
    clientHasGone: () => response.destroyed,
  };
});
