import { ERROR_CODES } from './error-codes.ts';
import type { GatewayError } from './gateway-error.ts';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** The problem document of RFC 9457 §3.1, with the gateway's extensions `code`, `requestId`, `sent`, `errors`. */
export function problemBody(error: GatewayError, requestId: string): string {
  return JSON.stringify({
    type: `urn:agent-gateway:error:${error.code}`,
    title: ERROR_CODES[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.isUnsent && { sent: false }),
    ...(error.errors && { errors: error.errors }),
  });
}
