import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { readTokenFromClaims } from '../../../src/auth/read-token.ts';
import { mintReadToken, readTokenFor, type ReadTokenRequest } from './tokens.ts';

const secret = 'a-secret-of-more-than-32-bytes-0123456789';
const claimsOf = async (request: object): Promise<Record<string, unknown>> => {
  const whole = { secret, prefix: '/streams', ...request } as ReadTokenRequest;
  return decodeJwt((await mintReadToken(whole)).token);
};

describe('mintReadToken', () => {
  it('has one form for the values of a clause', async () => {
    const shape = { table: 'entities', where: 'type = $1 AND id = $2', columns: ['url'] };
    for (const params of [['a', 'b'], { 1: 'a', 2: 'b' }]) {
      const { shape: claim } = await claimsOf({ shape: { ...shape, params } });
      expect(claim).toEqual({ ...shape, params: { 1: 'a', 2: 'b' } });
    }
  });

  // It signed these, and the gateway answered the page 401.
  it.each([
    ['no prefix', { prefix: [] }, 'prefix must be a path, or 1 to 16 of them'],
    ['a prefix of commands', { prefix: '/api' }, 'prefix must be a path'],
    ['a dot segment', { prefix: '/streams/../x' }, '"/streams/../x" is no path of the gateway.'],
    ['no life', { ttlSeconds: 0 }, 'ttlSeconds must be 1 or more.'],
    ['a life that is no number', { ttlSeconds: Number.NaN }, 'ttlSeconds must be 1 or more.'],
    ['an empty tenant', { tenant: '' }, 'tenant and subject must be texts'],
    ['a subject that is a number', { subject: 7 }, 'tenant and subject must be texts'],
    ['no table', { shape: {} }, 'shape.table must be the name of a table.'],
    ['another key', { shape: { table: 'a', limit: 1 } }, 'shape has no "limit".'],
    ['a blank where', { shape: { table: 'a', where: ' ' } }, 'shape.where must be a condition.'],
    ['no value', { shape: { table: 'a', where: 'b = $2', params: ['x'] } }, 'a value for $2.'],
    ['a number', { shape: { table: 'a', params: [1] } }, 'shape.params must be texts'],
    ['no columns', { shape: { table: 'a', columns: [] } }, 'shape.columns must be names'],
  ])('refuses %s', async (_, request, message) => {
    await expect(claimsOf(request)).rejects.toThrow(message);
    await expect(claimsOf(request)).rejects.toBeInstanceOf(TypeError);
  });

  it('signs what the gateway takes, and nothing else', async () => {
    const text = fc.oneof(
      fc.constantFrom('a', 'a = $1', '$2', ' ', "'$1'", 'x,y', ''),
      fc.string(),
    );
    const path = fc
      .array(fc.constantFrom('/streams', '/shapes', '/a', '/..', '//', '/%2e', '/%2f', '?', ' '), {
        maxLength: 4,
      })
      .map((parts) => parts.join(''));
    const params = fc.oneof(
      fc.dictionary(fc.constantFrom('1', '2', '01', 'a'), fc.oneof(text, fc.integer())),
      fc.array(fc.oneof(text, fc.integer()), { maxLength: 3 }),
    );
    const shape = fc.record(
      { table: text, where: text, params, columns: fc.array(text), more: text },
      { requiredKeys: ['table'] },
    );
    const request = fc.record(
      {
        prefix: fc.oneof(path, fc.array(path, { maxLength: 18 })),
        ttlSeconds: fc.oneof(fc.integer({ min: -5, max: 90_000 }), fc.double()),
        shape,
      },
      { requiredKeys: ['prefix'] },
    );
    const rules = { tenant: 'default', maxTtlSeconds: Number.MAX_VALUE };
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const claims = await claimsOf(asked).catch((error: unknown) => error as Error);
        if (claims instanceof Error) expect(claims).toBeInstanceOf(TypeError);
        else readTokenFromClaims(claims, rules, claims.iat as number);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('readTokenFor', () => {
  it('has the prefix and the tenant of the agent', async () => {
    const claims = async (...args: Parameters<typeof readTokenFor>) =>
      decodeJwt((await readTokenFor(...args)).token);
    expect(await claims('chat/a1', { secret, subject: 'ada' })).toMatchObject({
      prefix: '/streams/t/default/agents/chat/a1',
      aud: 'default',
      sub: 'ada',
    });
    expect(await claims({ url: '/t/acme/a/chat/a1' }, { secret })).toMatchObject({
      prefix: '/streams/t/acme/agents/chat/a1',
      aud: 'acme',
    });
    await expect(readTokenFor('chat', { secret })).rejects.toBeInstanceOf(TypeError);
  });
});
