import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { OpenCommandLimit } from './open-command-limit.ts';
import { stateOf } from '../../test/support/state-of.ts';

describe('OpenCommandLimit', () => {
  it('turns a command away beyond the cap, and lets one in when a place is free again', () => {
    const limit = new OpenCommandLimit(2);
    limit.enter();
    limit.enter();
    expect(() => limit.enter()).toThrow(GatewayError);
    expect(stateOf(limit, 'gateway_open_commands')).toBe(2);
    limit.leave();
    limit.enter();
    expect(stateOf(limit, 'gateway_open_commands')).toBe(2);
  });
});
