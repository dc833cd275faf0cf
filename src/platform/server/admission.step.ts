import { drainingError } from './drain.ts';
import type { GatewayState } from './gateway-state.ts';
import type { Connections } from './connections.ts';
import { requestContext } from './request-context.ts';
import type { Step } from './request-way.ts';

/**
 * Refuses new requests, before anything is done for them, when the gateway is at its limit or about to stop. Those of the
 * paths that `isServedToTheEnd` names are never refused for the stop.
 */
export function admissionStep(
  state: GatewayState,
  connections: Connections,
  isServedToTheEnd: (path: string) => boolean,
): Step {
  return (request, response) => {
    connections.checkPlace(request.socket, response);
    if (state.phase === 'refusing' && !isServedToTheEnd(requestContext(request).path)) {
      throw drainingError();
    }
    return true;
  };
}
