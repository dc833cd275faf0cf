import { beforeEach, describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { AUTHORIZED } from '../support/gateway.ts';
import { logOf, scriptedGateway } from '../support/scripted-gateway.ts';

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
  let answerHeaders: Record<string, string>;
  const { gateway, upstream } = scriptedGateway((_request, response) => {
    response
      .writeHead(status, answerHeaders)
      .end(`{"code":"invalid_credentials","detail":"${UPSTREAM_WORDS}"}`);
  });
  beforeEach(() => {
    answerHeaders = {
      'content-type': 'application/problem+json',
      'www-authenticate': 'Bearer realm="upstream"',
      'x-words': UPSTREAM_WORDS,
    };
  });

  /** Asks, expects the gateway's own error, and gives the answer's headers. */
  async function expectRefused(
    line: string,
    setting: string,
    { body, detail }: { body: string | undefined; detail: string },
  ): Promise<Headers> {
    const [method = '', path = ''] = line.split(' ');
    const headers = { ...AUTHORIZED, origin: PAGE, 'x-request-id': 'r1' };
    const answer = await fetch(gateway.url + path, { method, headers, body });
    const text = await answer.text();
    const code = 'upstream_invalid_response';
    expect([answer.status, method === 'HEAD' || JSON.parse(text)]).toEqual([
      502,
      method === 'HEAD' || problem(502, code, 'An upstream gave an unusable answer', detail),
    ]);
    expect(JSON.stringify([...answer.headers, text])).not.toContain(UPSTREAM_WORDS);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(upstream.seen).toHaveLength(1);
    expect(logOf(gateway).filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({
        requestId: 'r1',
        code,
        message: detail,
        err: expect.objectContaining({
          message: `the upstream refused the gateway's own credential with ${status}: see ${setting}`,
        }),
      }),
    ]);
    return answer.headers;
  }

  it.each([
    ['GET /streams/x?offset=-1', '*', 'HISTORY_TOKEN', undefined],
    ['HEAD /streams/x', '*', 'HISTORY_TOKEN', undefined],
    ['GET /streams/x?offset=0_0&live=long-poll', '*', 'HISTORY_TOKEN', undefined],
    ['GET /streams/x?offset=0_0&live=sse', '*', 'HISTORY_TOKEN', undefined],
    ['GET /shapes/v1/shape?table=entities&offset=-1', '*', 'SYNC_SECRET', undefined],
    ['GET /shapes/v1/shape?table=entities&offset=0_0&live=true', '*', 'SYNC_SECRET', undefined],
    ['PUT /streams/x', null, 'HISTORY_TOKEN', undefined],
    ['POST /streams/x', null, 'HISTORY_TOKEN', 'event'],
    ['DELETE /streams/x', null, 'HISTORY_TOKEN', undefined],
    ['GET /registry/deployments', null, 'RUNTIME_ADMIN_TOKEN', undefined],
    ['POST /registry/deployments', null, 'RUNTIME_ADMIN_TOKEN', '{}'],
    ['POST /api/spawn', null, 'RUNTIME_INGRESS_TOKEN', '{"type":"chat"}'],
    ['POST /api/a/chat/a1/send', null, 'RUNTIME_INGRESS_TOKEN', 'hello'],
    ['POST /api/a/chat/a1/control', null, 'RUNTIME_INGRESS_TOKEN', '{"verb":"pause"}'],
  ])(
    'is 502 on %s, with the allowed origin %j, and the log names GATEWAY_%s',
    async (line, origin, setting, body) => {
      const detail = line.includes('/api/') ? COMMAND_UNUSABLE : UNUSABLE;
      const headers = await expectRefused(line, `GATEWAY_${setting}`, { body, detail });
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('cache-control')).toBe('no-store');
    },
  );

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
});
