import type { ErrorCode } from '../../platform/errors/error-codes.ts';
import type { GatewayError } from '../../platform/errors/gateway-error.ts';

export const UPSTREAM_NAMES = ['history', 'sync', 'runtime-ingress', 'runtime-admin'] as const;
export type UpstreamName = (typeof UPSTREAM_NAMES)[number];

/**
 * Why an upstream request failed. `broken` is a body that was cut. Two are not the upstream's fault: `stale`, it
 * had closed a kept connection and the request is sent again; and `canceled`, the reader disconnected, its token
 * expired, or this copy drains.
 */
export const UPSTREAM_FAILURES = [
  'unreachable',
  'timeout',
  'invalid_response',
  'broken',
  'stale',
  'canceled',
  'other',
] as const;
export type UpstreamFailure = (typeof UPSTREAM_FAILURES)[number];

const FAILURES_BY_CODE: Partial<Record<ErrorCode, UpstreamFailure>> = {
  upstream_unreachable: 'unreachable',
  upstream_timeout: 'timeout',
  upstream_invalid_response: 'invalid_response',
};

/** The failure of a request by the gateway's error. Any other error is `other`. */
export function failureOf({ code }: GatewayError): UpstreamFailure {
  return FAILURES_BY_CODE[code] ?? 'other';
}
