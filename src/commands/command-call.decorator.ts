import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requestContext } from '../request/request-context.ts';
import { traceHeaders, type CommandCall } from './command-headers.ts';

/** What of the request goes on to the runtime beside the body. */
export const Call = createParamDecorator((_: unknown, context: ExecutionContext): CommandCall => {
  const request = context.switchToHttp().getRequest<Request>();
  const { requestId, idempotencyKey } = requestContext(request);
  return {
    requestId,
    idempotencyKey,
    trace: traceHeaders(request.headers),
    contentType: request.headers['content-type'],
  };
});
