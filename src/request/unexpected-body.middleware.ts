import type { NextFunction, Request, Response } from 'express';
import { GatewayError } from '../errors/gateway-error.ts';
import { hasBody } from './request-body.ts';
import { isReadMethod } from './routes.ts';

/**
 * Refuses GET and HEAD with a body, on every route and for any credential. RFC 9110 §9.3.1 gives such a body no
 * meaning, and reads with one would need a second way through the gateway.
 */
export function unexpectedBodyMiddleware(
  request: Request,
  _response: Response,
  next: NextFunction,
): void {
  if (isReadMethod(request.method) && hasBody(request)) {
    throw new GatewayError(
      'unexpected_body',
      `A ${request.method} request must have no body; send it without Content-Length and Transfer-Encoding.`,
    );
  }
  next();
}
