import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ACCEPTED, API_KEY, problem, SPAWN, startFixture } from './console-fixture.ts';
import type { ConsoleFixture } from './console-fixture.ts';

let fixture: ConsoleFixture;
beforeEach(async () => {
  fixture = await startFixture();
});
afterEach(() => fixture.stop());

describe('a command of the page', () => {
  it.each(['/api/spawn', '/api/a/assistant/ada/send', '/api/a/assistant/1._~:@-Z/control'])(
    'reaches the gateway at %s with the API key and nothing else of the page',
    async (path) => {
      const body = '{"big": 12345678901234567890}';

      const answer = await fixture.post(path, body, {
        cookie: 'a=b',
        'x-entity-url': '/t/acme/a/echo/e2',
      });

      expect({ status: answer.status, text: answer.text }).toEqual({
        status: 202,
        text: JSON.stringify(ACCEPTED),
      });
      expect(answer.headers['set-cookie']).toBeUndefined();
      const [command] = fixture.received;
      const { host, connection, ...headers } = command?.headers ?? {};
      expect([host, connection]).toEqual([new URL(fixture.gatewayUrl).host, 'keep-alive']);
      expect({ ...command, headers }).toEqual({
        method: 'POST',
        url: path,
        body,
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          'idempotency-key': 'k1',
          'content-length': String(body.length),
          accept: '*/*',
          'accept-language': '*',
          'accept-encoding': 'gzip, deflate',
          'sec-fetch-mode': 'cors',
          'user-agent': 'node',
        },
      });
    },
  );

  it("brings back the gateway's refusal", async () => {
    const body = { status: 404, code: 'entity_type_not_registered', detail: 'Register it.' };
    fixture.gatewayAnswer = { status: 404, contentType: 'application/problem+json', body };

    const answer = await fixture.post('/api/spawn', SPAWN);

    expect({ status: answer.status, text: answer.text }).toEqual({
      status: 404,
      text: JSON.stringify(body),
    });
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });

  it('ends an invocation or deletes an ended one, and does nothing else to it', async () => {
    const headers = fixture.ownHeaders();
    const actOn = (how: string) =>
      fixture.ask('PATCH', `/registry/invocations/inv_1/${how}`, headers);

    const answers = [];
    for (const how of ['cancel', 'kill', 'purge', 'resume']) answers.push(await actOn(how));

    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 404]);
    expect(fixture.received.map(({ url }) => url)).toEqual([
      '/registry/invocations/inv_1/cancel',
      '/registry/invocations/inv_1/kill',
      '/registry/invocations/inv_1/purge',
    ]);
  });

  it.each([
    ['the rest of the registry', '/registry/subscriptions'],
    ['a read, which has tokens', '/shapes/v1/shape'],
    ['another tenant', '/api/t/acme/spawn'],
    ['a stream', '/streams/t/acme/agents/echo/e1/timeline'],
    ['an unknown handler', '/api/a/echo/e1/step'],
    ['a dot segment', '/api/a/echo/../send'],
    ['an encoded slash', '/api/a/echo/e1%2f..%2f/send'],
    ['an absolute target', 'http://evil.example/api/spawn'],
  ])('for %s is not sent', async (_, path) => {
    expect(await fixture.post(path, SPAWN)).toMatchObject(
      problem(404, 'not_found', 'There is nothing at this path.'),
    );
    expect(fixture.received).toEqual([]);
  });

  it('without an Idempotency-Key or over 64 KiB is not sent', async () => {
    const { 'idempotency-key': _, ...keyless } = fixture.ownHeaders();

    expect(await fixture.ask('POST', '/api/spawn', keyless, SPAWN)).toMatchObject(
      problem(
        400,
        'invalid_idempotency_key',
        'Give the command an Idempotency-Key of 1 to 255 visible characters.',
      ),
    );
    expect(await fixture.post('/api/spawn', 'x'.repeat(65_537))).toMatchObject(
      problem(413, 'body_too_large', 'Send at most 65536 bytes.'),
    );
    expect(fixture.received).toEqual([]);
  });

  it('is answered 502 without any address when the gateway is gone', async () => {
    await fixture.closeGateway();

    expect(await fixture.post('/api/spawn', SPAWN)).toMatchObject(
      problem(502, 'gateway_unreachable', 'The gateway did not answer the console.'),
    );
  });
});
