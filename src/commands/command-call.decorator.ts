import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { requestContext } from '../server/request-context.ts';
import { traceHeaders, type CommandCall } from './command-headers.ts';

/** What of the request goes on to the runtime beside the body. */
export const Call = createParamDecorator((_: unknown, execution: ExecutionContext): CommandCall => {
  const request = execution.switchToHttp().getRequest<Request>();
  const response = execution.switchToHttp().getResponse<Response>();
  return {
    context: requestContext(request),
    trace: traceHeaders(request.headers),
    contentType: request.headers['content-type'],
    clientHasGone: () => response.destroyed,
  };
});
