import { drainingError } from './drain.ts';
import type { GatewayState } from './gateway-state.ts';
import type { ConnectionCap } from './connection-cap.ts';
import type { Step } from './request-way.ts';

/** Turns new requests away, before anything is done for them, at the limit or near the end. */
export function admissionStep(state: GatewayState, connectionCap: ConnectionCap): Step {
  return (request, response) => {
    connectionCap.check(request.socket, response);
    if (state.phase === 'refusing') throw drainingError();
    return true;
  };
}
