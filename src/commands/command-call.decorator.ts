import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { requestContext } from '../platform/server/request-context.ts';
import { idempotencyKeyOf } from './idempotency-key.interceptor.ts';
import { traceHeaders, type CommandCall } from './command-headers.ts';

/** The parts of the request that the runtime gets, other than the body. */
export const Call = createParamDecorator((_: unknown, execution: ExecutionContext): CommandCall => {
  const request = execution.switchToHttp().getRequest<Request>();
  const response = execution.switchToHttp().getResponse<Response>();
  return {
    context: requestContext(request),
    idempotencyKey: idempotencyKeyOf(request),
    trace: traceHeaders(request.headers),
    contentType: request.headers['content-type'],
    clientHasGone: () => response.destroyed,
  };
});
