import { GatewayError } from '../errors/gateway-error.ts';
import { isReadMethod, type ClientRequest } from '../http/client-request.ts';
import { hasBody } from './request-body.ts';

/**
 * Refuses GET and HEAD with a body, on every route and for any credential. RFC 9110 §9.3.1 gives such a body no
 * meaning, and reads with one would need a second way through the gateway.
 */
export function unexpectedBodyStep(request: ClientRequest): true {
  if (isReadMethod(request.method) && hasBody(request)) {
    throw new GatewayError(
      'unexpected_body',
      `A ${request.method} request must have no body; send it without Content-Length and Transfer-Encoding.`,
    );
  }
  return true;
}
