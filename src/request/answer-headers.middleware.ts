import type { NextFunction, Request, Response } from 'express';
import { requestContext, setAnswerHeaders } from './request-context.ts';

/** Sets what every answer has, for whatever behind it answers. */
export function answerHeadersMiddleware(
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  setAnswerHeaders(response, requestContext(request));
  next();
}
