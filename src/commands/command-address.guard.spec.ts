import { describe, expect, it } from '@jest/globals';
import { executionContext } from '../../test/support/execution-context.ts';
import type { GatewayConfig } from '../contract/gateway-config.ts';
import { CommandAddressGuard } from './command-address.guard.ts';

describe('CommandAddressGuard', () => {
  const guard = new CommandAddressGuard({ tenant: 'acme' } as GatewayConfig);
  const ask = (params: Record<string, string>): boolean =>
    guard.canActivate(executionContext({ params }));

  it('lets the addresses of its own tenant pass, named or not', () => {
    expect(ask({})).toBe(true);
    expect(ask({ type: 'chat', id: 'a1' })).toBe(true);
    expect(ask({ tenant: 'acme', type: 'chat', id: 'a1' })).toBe(true);
  });

  it('refuses another tenant, and says which one is served', () => {
    expect(() => ask({ tenant: 'other', type: 'chat', id: 'a1' })).toThrow(
      expect.objectContaining({
        code: 'tenant_not_served',
        message: 'This deployment serves the tenant "acme" only.',
      }),
    );
  });

  it.each([
    ['invalid_entity_type', { type: '1', id: 'a1' }],
    ['invalid_entity_id', { type: 'chat', id: '~a' }],
  ])('refuses an address with %s', (code, params) => {
    expect(() => ask(params)).toThrow(expect.objectContaining({ code }));
  });
});
