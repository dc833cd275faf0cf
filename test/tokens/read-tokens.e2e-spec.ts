import { beforeAll, describe, expect, it } from '@jest/globals';
import { askRaw, problemAnswer } from '../support/ask-raw.ts';
import { READ_TOKEN_SECRET } from '../support/gateway.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';

const NOT_COVERED = problemAnswer(
  403,
  'prefix_not_covered',
  'The read token does not cover this path',
  'No prefix of the read token covers this path; mint a token for it.',
);
const READ_ONLY = problemAnswer(
  403,
  'read_only_token',
  'A read token cannot write',
  'A read token opens GET and HEAD only; use an API key.',
);
describe('a read token opens', () => {
  const { gateway, upstream } = scriptedGateway(
    (_, response) => response.end('served'),
    (upstreamUrl) => ({ GATEWAY_HISTORY_URL: `${upstreamUrl}/v1/stream` }),
  );
  let token: string;
  beforeAll(async () => {
    const prefix = ['/streams/t/acme/agents/chat/a1', '/streams/t/acme/b%20c/'];
    token = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 600 });
  });

  it.each([
    '/streams/t/acme/agents/chat/a1',
    '/streams/t/acme/agents/chat/a1/',
    '/streams/t/acme/agents/chat/a1/timeline',
    '/streams/t/acme/agents/chat/a1/x/y/z?offset=-1&live=true&__ds',
    '/streams/t/%61cme/agents/chat/a%31/timeline',
    '/streams/t/acme/b%20c',
    '/streams/t/acme/b%20c/x',
  ])('%s, of which the very bytes are sent', async (path) => {
    expect(await askRaw(gateway.port, `GET ${path}`, token)).toMatchObject({ status: 200 });
    expect(await askRaw(gateway.port, `HEAD ${path}`, token)).toEqual({ status: 200, body: '' });
    const target = path.replace('/streams', '/v1/stream');
    expect(upstream.seen.map((seen) => `${seen.method} ${seen.target}`)).toEqual([
      `GET ${target}`,
      `HEAD ${target}`,
    ]);
    expect(upstream.seen[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    '/streams/t/acme/agents/chat/a10/timeline',
    '/streams/t/acme/agents/chat/a',
    '/streams/t/acme/agents/chat',
    '/streams/t/acme/agents/chat/A1/timeline',
    '/streams/t/acme/agents/chat/a1%20/timeline',
    '/streams/t/acme/agents/chat/x/a1',
    '/streams/t/acme/b%2520c',
    '/streams/t/acme/b+c',
    '/streams/',
    '/streams/t/acme/agents/chat/a1/__ds/x',
    '/streams/t/acme/agents/chat/a1/%5f%5fds',
    '/streams/t/acme/agents/chat/a1/%255f_ds/',
    '/shapes/v1/shape?table=entities',
  ])('not %s', async (path) => {
    expect(await askRaw(gateway.port, `GET ${path}`, token)).toEqual(NOT_COVERED);
    expect(upstream.seen).toEqual([]);
  });

  it.each([
    '/streams/t/acme/agents/chat/a1/../a2',
    '/streams/t/acme/agents/chat/a1/%2e%2e/a2',
    '/streams/t/acme/agents/chat/a1/%252e%252e/a2',
    '/streams/t/acme/agents/chat/a1/..%2fa2',
    '/streams/t/acme/agents/chat/a1//x',
    '/streams/t/acme/agents/chat/a1/%00',
  ])('and never %s, which is malformed', async (path) => {
    expect(await askRaw(gateway.port, `GET ${path}`, token)).toMatchObject({
      status: 400,
      body: { code: 'malformed_path' },
    });
    expect(upstream.seen).toEqual([]);
  });

  it('nothing of the control plane, though its prefix be all streams', async () => {
    const prefix = ['/streams', '/streams/__ds'];
    const wide = await mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: 600 });
    for (const path of ['__ds', '__ds/', '__ds/subscriptions', '%5F_d%73/jwks.json']) {
      expect(await askRaw(gateway.port, `GET /streams/${path}`, wide)).toEqual(NOT_COVERED);
    }
    expect(await askRaw(gateway.port, 'GET /streams/x', wide)).toMatchObject({ status: 200 });
  });

  it.each(['POST', 'PUT', 'DELETE'])('no %s, on a path that it covers or not', async (method) => {
    for (const path of ['/streams/t/acme/agents/chat/a1/x', '/streams/other']) {
      expect(await askRaw(gateway.port, `${method} ${path}`, token)).toEqual(READ_ONLY);
    }
    expect(upstream.seen).toEqual([]);
  });

  it('no write that hides behind a read', async () => {
    const line = 'GET /streams/t/acme/agents/chat/a1/x?_method=DELETE';
    const headers = [`Authorization: Bearer ${token}`, 'X-HTTP-Method-Override: DELETE'];
    await rawAnswer(gateway.port, line, headers);
    expect(upstream.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  it('nothing once it has expired, whatever is asked of it', async () => {
    const expired = await mintReadToken(READ_TOKEN_SECRET, {
      prefix: '/streams',
      ttlSeconds: -1,
    });
    const { status, body } = problemAnswer(401, 'token_expired', 'The read token has expired', '');
    const detail: unknown = expect.stringMatching(
      /^The read token expired \d+ s ago\. Get a new one and continue from the last offset\. If it is new, check the clock of the machine that made it\.$/,
    );
    const answer = { status, body: { ...body, detail } };
    expect(await askRaw(gateway.port, 'GET /streams/t/x', expired)).toEqual(answer);
    expect(await askRaw(gateway.port, 'POST /streams/t/x', expired)).toEqual(answer);
  });
});
