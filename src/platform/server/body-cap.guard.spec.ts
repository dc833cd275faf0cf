import { describe, expect, it } from '@jest/globals';
import { executionContext, guardedRequest } from '../../../test/support/execution-context.ts';
import { BodyCapGuard } from './body-cap.guard.ts';

describe('BodyCapGuard', () => {
  const guard = new BodyCapGuard(100);
  const ask = (headers: Record<string, string>): boolean =>
    guard.canActivate(executionContext(guardedRequest('POST', '/x', headers).request));

  it('lets a body up to the cap pass, or one without a length', () => {
    expect(ask({ 'content-length': '100' })).toBe(true);
    expect(ask({ 'transfer-encoding': 'chunked' })).toBe(true);
    expect(ask({})).toBe(true);
  });

  it('refuses a length over the cap', () => {
    expect(() => ask({ 'content-length': '101' })).toThrow(
      expect.objectContaining({ code: 'body_too_large', reason: 'declared_length' }),
    );
  });

  it('refuses a coding that nobody would undo', () => {
    expect(() => ask({ 'transfer-encoding': 'gzip, chunked' })).toThrow(
      expect.objectContaining({ code: 'invalid_body', reason: 'transfer_coding' }),
    );
  });
});
