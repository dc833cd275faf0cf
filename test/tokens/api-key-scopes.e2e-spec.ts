import { describe, expect, it } from '@jest/globals';
import { SCOPES, type Scope } from '../../src/contract/api-key.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';

const keyOf = (name: string): string => `the-key-that-is-called-${name}`;
const nameOf = (scope: Scope): string => scope.replace(':', '-');
const bearer = (name: string): string => `Authorization: Bearer ${keyOf(name)}`;

const BODIES: Record<string, string> = { spawn: '{"type":"chat"}', control: '{"verb":"pause"}' };

/** Each method of each route with the scope that it needs. */
const ROUTES: [method: string, path: string, scope: Scope][] = [
  ['POST', '/api/spawn', 'commands'],
  ['POST', '/api/t/default/spawn', 'commands'],
  ['POST', '/api/a/chat/a1/send', 'commands'],
  ['POST', '/api/t/default/a/chat/a1/send', 'commands'],
  ['POST', '/api/a/chat/a1/control', 'commands'],
  ['POST', '/api/t/default/a/chat/a1/control', 'commands'],
  ['GET', '/streams/t/x', 'streams:read'],
  ['HEAD', '/streams/t/x', 'streams:read'],
  ['GET', '/streams/__ds/x', 'streams:read'],
  ['PUT', '/streams/t/x', 'streams:write'],
  ['POST', '/streams/t/x', 'streams:write'],
  ['DELETE', '/streams/t/x', 'streams:delete'],
  ['GET', '/shapes/v1/shape?table=entities&offset=-1', 'shapes:read'],
  ['HEAD', '/shapes/v1/shape?table=entities&offset=-1', 'shapes:read'],
  ['GET', '/registry/deployments', 'registry:read'],
  ['HEAD', '/registry/deployments', 'registry:read'],
  ['POST', '/registry/deployments', 'registry:write'],
  ['PUT', '/registry/deployments/x', 'registry:write'],
  ['PATCH', '/registry/deployments/x', 'registry:write'],
  ['DELETE', '/registry/deployments/x', 'registry:write'],
];

describe('the scopes of API keys', () => {
  const { gateway, upstream } = scriptedGateway(
    (_, response) => response.end('{}'),
    () => ({
      GATEWAY_API_KEYS: [
        `${keyOf('all')} name=all`,
        ...SCOPES.map((scope) => `${keyOf(nameOf(scope))} name=${nameOf(scope)} scopes=${scope}`),
        ...SCOPES.map(
          (scope) =>
            `${keyOf(`no-${nameOf(scope)}`)} name=no-${nameOf(scope)} scopes=${SCOPES.filter((other) => other !== scope).join('+')}`,
        ),
        `${keyOf('narrow')} name=narrow paths=/streams/t/a+/streams/t/b%20c`,
      ].join(','),
    }),
  );

  /** Status and problem of a request with a key; no problem where it came to its upstream. */
  async function ask(name: string, method: string, target: string, ...headers: string[]) {
    const body = BODIES[/\w+$/.exec(target)?.[0] ?? ''] ?? '';
    const all = [bearer(name), `Content-Length: ${body.length}`, ...headers];
    const answer = await rawAnswer(gateway.port, `${method} ${target}`, all, body);
    const isProblem = /^content-type: application\/problem\+json/im.test(answer.head);
    const problem =
      isProblem && answer.body !== ''
        ? (JSON.parse(answer.body) as { code: string; detail: string })
        : undefined;
    return { status: answer.status, problem };
  }

  it.each(ROUTES)(
    'open %s %s to keys that have %s, and to no other',
    async (method, path, needed) => {
      for (const name of ['all', nameOf(needed)]) {
        expect((await ask(name, method, path)).status).not.toBe(403);
      }
      const came = upstream.seen.length;
      expect(came).toBeGreaterThan(0);
      const others = SCOPES.filter((scope) => scope !== needed).map(nameOf);
      for (const name of [...others, `no-${nameOf(needed)}`]) {
        const { status, problem } = await ask(name, method, path);
        expect([name, status]).toEqual([name, 403]);
        if (method === 'HEAD') continue;
        expect(problem).toMatchObject({
          code: 'scope_not_covered',
          detail: `The API key does not have the scope ${needed}; use a key that has it.`,
        });
      }
      expect(upstream.seen.length).toBe(came);
    },
  );

  describe('with paths', () => {
    it.each([
      '/streams/t/a',
      '/streams/t/a/',
      '/streams/t/a/x?y=/streams/z',
      '/streams/t/b%20c/d',
      '/streams/%74/a',
    ])('opens %s', async (target) => {
      for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
        expect((await ask('narrow', method, target)).status).toBe(200);
      }
    });

    it.each([
      '/streams/t',
      '/streams/t/ab',
      '/streams/t/A',
      '/streams/t/b',
      '/streams/u/a',
      '/streams/__ds/a',
      '/streams/t/a/__ds',
      '/streams/t/a/%5f%5fds/x',
      '/streams/t/a/%255f_ds',
    ])('does not open %s', async (target) => {
      for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
        expect(await ask('narrow', method, target)).toMatchObject({
          status: 403,
          problem: {
            code: 'scope_not_covered',
            detail: expect.stringMatching(
              /^No path of the API key covers this one for the scope streams:/,
            ),
          },
        });
      }
      expect(upstream.seen).toEqual([]);
    });

    it('narrows the scopes of streams alone', async () => {
      for (const path of ['/registry/deployments', '/shapes/v1/shape?table=entities&offset=-1']) {
        expect((await ask('narrow', 'GET', path)).status).toBe(200);
      }
      const elsewhere = 'Stream-Forked-From: /streams/t/secret';
      expect((await ask('narrow', 'GET', '/registry/deployments', elsewhere)).status).toBe(200);
    });

    it.each([
      ['/streams/t/a/x', 200],
      ['/streams/t/ab', 403],
      ['/streams/__ds/x', 403],
      // As with a malformed path of the request, whatever the key's paths are.
      ['/streams/t/a/../../secret', 400],
      ['/v1/stream/t/a/x', 403],
      ['http://elsewhere/streams/t/a', 400],
      ['streams/t/a', 403],
      ['', 403],
      ['/streams/t/a/x\r\nStream-Forked-From: /streams/t/secret', 403],
      ['/streams/t/a/x\r\nStream-Forked-From: /streams/t/a/../x', 400],
    ])('lets a new stream begin with %j: %d', async (source, status) => {
      const header = `Stream-Forked-From: ${source}`;
      const answer = await ask('narrow', 'PUT', '/streams/t/a/new', header);
      expect(answer.status).toBe(status);
      if (status === 400) expect(answer.problem).toMatchObject({ code: 'malformed_path' });
      if (status === 403) {
        expect(answer.problem).toMatchObject({
          code: 'scope_not_covered',
          detail: expect.stringContaining('for the scope streams:write'),
        });
      }
      expect(upstream.seen.length).toBe(status === 200 ? 1 : 0);
    });
  });
});
