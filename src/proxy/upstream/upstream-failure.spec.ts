import { expect, it } from '@jest/globals';
import type { ErrorCode } from '../../platform/errors/error-codes.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { failureOf } from './upstream-failure.ts';

it.each<[ErrorCode, string]>([
  ['upstream_unreachable', 'unreachable'],
  ['upstream_timeout', 'timeout'],
  ['upstream_invalid_response', 'invalid_response'],
  ['internal_error', 'other'],
])('takes the answer %s for a request that failed as %s', (code, failure) => {
  expect(failureOf(new GatewayError(code, ''))).toBe(failure);
});
