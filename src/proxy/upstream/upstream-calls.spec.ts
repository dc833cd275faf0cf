import { describe, expect, it } from '@jest/globals';
import type { ErrorCode } from '../../platform/errors/error-codes.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { RequestRecord } from '../../platform/telemetry/request-record.ts';
import { UpstreamCalls, type UpstreamCall } from './upstream-calls.ts';

const context = new RequestRecord('r1', '/x');

/** Calls whose observer writes down what it is told. */
function observedCalls(): { calls: UpstreamCalls; told: string[] } {
  const told: string[] = [];
  const calls = new UpstreamCalls();
  const tell = (event: string) => (call: UpstreamCall) => {
    told.push([event, call.upstream, call.status, call.failure].filter(Boolean).join(' '));
  };
  calls.observe({ began: tell('began'), answered: tell('answered'), ended: tell('ended') });
  return { calls, told };
}

describe('UpstreamCalls', () => {
  it('tells of a call that is answered: begin, headers, end', () => {
    const { calls, told } = observedCalls();
    const call = calls.begin('history', 'GET', context, '/x');
    call.answered(200);
    call.ended();
    expect(told).toEqual(['began history', 'answered history 200', 'ended history 200']);
  });

  it('counts the first end only', () => {
    const { calls, told } = observedCalls();
    const call = calls.begin('sync', 'GET', context, '/x');
    call.answered(200);
    call.ended('broken');
    call.ended();
    call.failed(new GatewayError('internal_error', ''));
    expect(told).toEqual(['began sync', 'answered sync 200', 'ended sync 200 broken']);
  });

  it('lets an observer set headers before the call is sent', () => {
    const calls = new UpstreamCalls();
    calls.observe({
      began: (call) => {
        call.headers = { traceparent: '00-1-2-01' };
      },
    });
    expect(calls.begin('sync', 'GET', context, '/x').headers).toEqual({ traceparent: '00-1-2-01' });
  });

  it.each<[ErrorCode, string]>([
    ['upstream_unreachable', 'unreachable'],
    ['upstream_timeout', 'timeout'],
    ['upstream_invalid_response', 'invalid_response'],
    ['internal_error', 'other'],
  ])('takes the answer %s for a call that failed as %s', (code, failure) => {
    const { calls, told } = observedCalls();
    calls.begin('history', 'GET', context, '/x').failed(new GatewayError(code, ''));
    expect(told).toEqual(['began history', `ended history ${failure}`]);
  });
});
