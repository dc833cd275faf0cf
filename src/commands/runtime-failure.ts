import { GatewayError } from '../errors/gateway-error.ts';
import { upstreamError } from '../proxy/upstream-error.ts';

export interface RuntimeFailure {
  error: GatewayError;
  /** The connection was never made, so that the runtime cannot have the command. */
  nothingSent: boolean;
  /** Another attempt may go better. */
  isTransient: boolean;
}

/** Codes of a connection that was not made: of Node's `connect`, of its resolver, of undici. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What a failed attempt means for the command. */
export function classifyFailure(thrown: unknown): RuntimeFailure {
  if (thrown instanceof GatewayError) {
    // A timeout is the gateway's own; every other GatewayError is the runtime's considered answer.
    return {
      error: thrown,
      nothingSent: false,
      isTransient: thrown.code === 'upstream_timeout',
    };
  }
  const { code } = thrown as { code?: string };
  const error = upstreamError(thrown, false);
  return {
    error,
    nothingSent: code !== undefined && NOT_CONNECTED.has(code),
    isTransient: error.code === 'upstream_unreachable',
  };
}
