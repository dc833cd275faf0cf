import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jwtVerify } from 'jose';
import { problem, SECRET, startFixture } from './console-fixture.ts';
import type { ConsoleFixture } from './console-fixture.ts';

let fixture: ConsoleFixture;
beforeEach(async () => {
  fixture = await startFixture();
});
afterEach(() => fixture.stop());

describe('the read token of the console', () => {
  it.each([
    ['the catalog, pinned to its table', '/shapes/v1/shape', { shape: { table: 'entities' } }],
    ['one agent', '/streams/t/acme/agents/assistant/ada', {}],
    ['an id with every character', '/streams/t/acme/agents/a.b_c-D/1._~:@-Z', {}],
  ])('opens %s, for a minute', async (_, prefix, more) => {
    const answer = await fixture.post('/token', JSON.stringify({ prefix }));

    const { token, ttlSeconds } = JSON.parse(answer.text) as { token: string; ttlSeconds: number };
    expect({ status: answer.status, ttlSeconds }).toEqual({ status: 200, ttlSeconds: 60 });
    const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(SECRET));
    const { iat = 0, exp = 0, ...claims } = payload;
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(claims).toEqual({ aud: 'acme', prefix, ...more });
    expect(exp - iat).toBe(60);
    expect(Math.abs(iat - Date.now() / 1_000)).toBeLessThan(10);
  });

  it.each([
    ['all streams', '/streams'],
    ['all of the tenant', '/streams/t/acme'],
    ['all agents of a type', '/streams/t/acme/agents/echo'],
    ['a stream that is no agent', '/streams/t/acme/others/echo/e1'],
    ['another tenant', '/streams/t/umbrella/agents/echo/e1'],
    ['a tenant whose name begins alike', '/streams/t/acme2/agents/echo/e1'],
    ['a dot segment', '/streams/t/acme/agents/echo/..'],
    ['an encoded dot segment', '/streams/t/acme/agents/echo/%2e%2e'],
    ['the control plane', '/streams/t/acme/agents/__ds/e1'],
    ['more below an agent', '/streams/t/acme/agents/echo/e1/timeline'],
    ['a line break at the end', '/streams/t/acme/agents/echo/e1\n'],
    ['all shapes', '/shapes'],
    ['another shape', '/shapes/v1/shape2'],
    ['commands', '/api'],
    ['everything', '/'],
    ['nothing', undefined],
    ['two at once', ['/shapes/v1/shape', '/streams']],
    ['an object', { startsWith: '/streams' }],
  ])('is not minted for %s', async (_, prefix) => {
    expect(await fixture.post('/token', JSON.stringify({ prefix }))).toMatchObject(
      problem(403, 'prefix_not_allowed', 'The page may not read there.'),
    );
  });
});
