import type { NextFunction, Request, Response } from 'express';
import { drainingError } from '../drain/drain.ts';
import type { GatewayState } from '../health/gateway-state.ts';
import type { ConnectionCap } from '../limits/connection-cap.ts';

/** Turns new requests away, before anything is done for them, at the limit or near the end. */
export function admissionMiddleware(state: GatewayState, connectionCap: ConnectionCap) {
  return (request: Request, response: Response, next: NextFunction): void => {
    connectionCap.check(request.socket, response);
    if (state.phase === 'refusing') throw drainingError();
    next();
  };
}
