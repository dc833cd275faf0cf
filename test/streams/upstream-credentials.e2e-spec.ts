import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const PAGE = 'https://app.example';
/** Parts of the upstream's response that must never reach a client. */
const UPSTREAM_WORDS = 'wrong credential at 10.1.2.3';

const UNUSABLE = 'The server behind this route gave an answer that cannot be used.';
const COMMAND_UNUSABLE =
  'The runtime gave an answer that cannot be used; nothing is known of the command. ' +
  'With an Idempotency-Key it can be repeated safely.';

// The gateway's own credential was wrong, and a browser was told that its token was: it fetched a fresh one,
// over and over, or stopped for good.
describe.each([401, 403])('an upstream that refuses the gateway with %d', (status) => {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  let answerHeaders: Record<string, string>;
  beforeEach(() => {
    answerHeaders = {
      'content-type': 'application/problem+json',
      'www-authenticate': 'Bearer realm="upstream"',
      'x-words': UPSTREAM_WORDS,
    };
  });
  beforeAll(async () => {
    upstream = await startScriptedUpstream((_request, response) => {
      response
        .writeHead(status, answerHeaders)
        .end(`{"code":"invalid_credentials","detail":"${UPSTREAM_WORDS}"}`);
    });
    gateway = await startTestGateway({
      GATEWAY_HISTORY_URL: upstream.url,
      GATEWAY_SYNC_URL: upstream.url,
      GATEWAY_RUNTIME_ADMIN_URL: upstream.url,
      GATEWAY_RUNTIME_INGRESS_URL: upstream.url,
    });
  });
  afterEach(() => {
    upstream.seen.length = 0;
    gateway.logLines.length = 0;
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.stop();
  });

  /** Asks, expects the gateway's own error, and gives the answer's headers. */
  async function expectRefused(
    line: string,
    setting: string,
    { body, detail = UNUSABLE }: { body?: string; detail?: string } = {},
  ): Promise<Headers> {
    const [method = '', path = ''] = line.split(' ');
    const headers = { ...AUTHORIZED, origin: PAGE, 'x-request-id': 'r1' };
    const answer = await fetch(gateway.url + path, { method, headers, body });
    const text = await answer.text();
    expect([answer.status, method === 'HEAD' || JSON.parse(text)]).toEqual([
      502,
      method === 'HEAD' || {
        type: 'urn:agent-gateway:error:upstream_invalid_response',
        title: 'An upstream gave an unusable answer',
        status: 502,
        detail,
        code: 'upstream_invalid_response',
        requestId: 'r1',
      },
    ]);
    expect(JSON.stringify([...answer.headers, text])).not.toContain(UPSTREAM_WORDS);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(upstream.seen).toHaveLength(1);
    const warnings = gateway.logLines.map(
      (logged) => JSON.parse(logged) as Record<string, unknown>,
    );
    expect(warnings.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({
        requestId: 'r1',
        code: 'upstream_invalid_response',
        message: detail,
        err: expect.objectContaining({
          message: `the upstream refused the gateway's own credential with ${status}: see ${setting}`,
        }),
      }),
    ]);
    return answer.headers;
  }

  it.each([
    ['GET /streams/x?offset=-1', 'GATEWAY_HISTORY_TOKEN'],
    ['HEAD /streams/x', 'GATEWAY_HISTORY_TOKEN'],
    ['GET /streams/x?offset=0_0&live=long-poll', 'GATEWAY_HISTORY_TOKEN'],
    ['GET /streams/x?offset=0_0&live=sse', 'GATEWAY_HISTORY_TOKEN'],
    ['GET /shapes/v1/shape?table=entities&offset=-1', 'GATEWAY_SYNC_SECRET'],
    ['GET /shapes/v1/shape?table=entities&offset=0_0&live=true', 'GATEWAY_SYNC_SECRET'],
  ])('is 502 with CORS on %s, and the log names %s', async (line, setting) => {
    const headers = await expectRefused(line, setting);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['PUT /streams/x', undefined, 'GATEWAY_HISTORY_TOKEN'],
    ['POST /streams/x', 'event', 'GATEWAY_HISTORY_TOKEN'],
    ['DELETE /streams/x', undefined, 'GATEWAY_HISTORY_TOKEN'],
    ['GET /registry/deployments', undefined, 'GATEWAY_RUNTIME_ADMIN_TOKEN'],
    ['POST /registry/deployments', '{}', 'GATEWAY_RUNTIME_ADMIN_TOKEN'],
  ])('is 502 without CORS on %s %j, and the log names %s', async (line, body, setting) => {
    const headers = await expectRefused(line, setting, { body });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  // Durable Streams tells a producer so that another one has taken over; as a 502 it would go on for ever.
  it('is passed on where it tells a producer of its later epoch', async () => {
    answerHeaders = { 'content-type': 'text/plain', 'producer-epoch': '7' };
    const answer = await fetch(`${gateway.url}/streams/x`, {
      method: 'POST',
      headers: { ...AUTHORIZED, 'producer-id': 'p', 'producer-epoch': '6', 'producer-seq': '0' },
      body: 'event',
    });
    const isFence = status === 403;
    expect(answer.status).toBe(isFence ? 403 : 502);
    expect(answer.headers.get('producer-epoch')).toBe(isFence ? '7' : null);
    expect((await answer.text()).includes(UPSTREAM_WORDS)).toBe(isFence);
  });

  it.each([
    ['POST /api/spawn', '{"type":"chat"}'],
    ['POST /api/a/chat/a1/send', 'hello'],
    ['POST /api/a/chat/a1/control', '{"verb":"pause"}'],
  ])('is 502 on %s, and the log names GATEWAY_RUNTIME_INGRESS_TOKEN', async (line, body) => {
    await expectRefused(line, 'GATEWAY_RUNTIME_INGRESS_TOKEN', { body, detail: COMMAND_UNUSABLE });
  });
});
