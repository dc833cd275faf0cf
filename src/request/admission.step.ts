import { drainingError } from '../drain/drain.ts';
import type { GatewayState } from '../health/gateway-state.ts';
import type { ConnectionCap } from '../limits/connection-cap.ts';
import type { Step } from '../server/request-way.ts';

/** Turns new requests away, before anything is done for them, at the limit or near the end. */
export function admissionStep(state: GatewayState, connectionCap: ConnectionCap): Step {
  return (request, response) => {
    connectionCap.check(request.socket, response);
    if (state.phase === 'refusing') throw drainingError();
    return true;
  };
}
