import { isHealthPath } from '../http/routes.ts';
import { drainingError } from './drain.ts';
import type { GatewayState } from './gateway-state.ts';
import type { ConnectionCap } from './connection-cap.ts';
import { requestContext } from './request-context.ts';
import type { Step } from './request-way.ts';

/**
 * Refuses new requests, before anything is done for them, when the gateway is at its limit or about to stop. Whether
 * `/health` fails in a drain is a setting.
 */
export function admissionStep(state: GatewayState, connectionCap: ConnectionCap): Step {
  return (request, response) => {
    connectionCap.check(request.socket, response);
    if (state.phase === 'refusing' && !isHealthPath(requestContext(request).path)) {
      throw drainingError();
    }
    return true;
  };
}
