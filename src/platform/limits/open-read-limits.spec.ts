import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../../test/support/thrown.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { OpenReadLimits } from './open-read-limits.ts';

const held = { isClosed: false };

const codeOf = (action: () => unknown) => thrown(GatewayError, action)?.code;

describe('OpenReadLimits', () => {
  it('turns a read away beyond the cap of all, and lets one in when a place is given back', () => {
    const limits = new OpenReadLimits({ total: 2, perCredential: 2 }, held);
    limits.enter('a');
    limits.enter('b');
    expect(codeOf(() => limits.enter('c'))).toBe('overloaded');
    limits.leave('a');
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

  it('counts the reads that are open, and the most of one credential', () => {
    const limits = new OpenReadLimits({ total: 9, perCredential: 9 }, held);
    for (const credentialId of ['a', 'a', 'b']) limits.enter(credentialId);
    limits.leave('a');
    expect([limits.openReads, limits.mostOfOneCredential]).toEqual([2, 1]);
  });
});
