import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway-error.ts';
import { OpenReadLimits } from './open-read-limits.ts';

const held = { isClosed: false };

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return (error as GatewayError).code;
  }
}

describe('OpenReadLimits', () => {
  it('turns a read away beyond the cap of all, and lets one in when a place is given back', () => {
    const limits = new OpenReadLimits({ total: 2, perCredential: 2 }, held);
    const leave = limits.enter('a');
    limits.enter('b');
    expect(codeOf(() => limits.enter('c'))).toBe('overloaded');
    leave();
    expect(codeOf(() => limits.enter('c'))).toBeUndefined();
  });

  it('turns a read away beyond the cap of its credential, and not those of others', () => {
    const limits = new OpenReadLimits({ total: 10, perCredential: 1 }, held);
    limits.enter('a');
    expect(codeOf(() => limits.enter('a'))).toBe('overloaded');
    expect(codeOf(() => limits.enter('b'))).toBeUndefined();
  });

  it('turns reads away while memory is short', () => {
    const limits = new OpenReadLimits({ total: 2, perCredential: 2 }, { isClosed: true });
    expect(codeOf(() => limits.enter('a'))).toBe('overloaded');
  });

  it('gives a place back once, however often it is told to', () => {
    const limits = new OpenReadLimits({ total: 2, perCredential: 2 }, held);
    const leave = limits.enter('a');
    limits.enter('a');
    leave();
    leave();
    expect(limits.openReads).toBe(1);
  });
});
