import { GatewayError } from '../errors/gateway-error.ts';

/**
 * The gateway's error for a request whose upstream gave no answer. `answerBegan` tells whether any
 * byte of one came: a connection lost before is a server that is not there, one lost within the
 * headers an answer that cannot be used. Codes are those of Node and of llhttp (`HPE_*`).
 */
export function upstreamError(error: unknown, answerBegan: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = (error as { code?: unknown } | undefined)?.code;
  if (answerBegan || (typeof code === 'string' && code.startsWith('HPE_'))) {
    return invalidUpstreamResponse(error);
  }
  return new GatewayError(
    'upstream_unreachable',
    'The server behind this route could not be reached; try again.',
    { cause: error },
  );
}

/** No response headers within the time that the settings give. */
export function upstreamTimeout(timeoutMs: number, cause?: unknown): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `The server behind this route did not answer within ${timeoutMs} ms.`,
    { cause },
  );
}

/** Why a 401 or 403 of an upstream cannot be used, for the log: which setting it is about. */
export function refusedCredential(status: number, setting: string): Error {
  return new Error(
    `the upstream refused the gateway's own credential with ${status}: see ${setting}`,
  );
}

/** An answer that is cut or garbled in its headers, or is not for clients. */
export function invalidUpstreamResponse(cause?: unknown): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    'The server behind this route gave an answer that cannot be used.',
    { cause },
  );
}
