import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { forThisTest } from '../support/for-this-test.ts';
import { startMeasuredGateway, type MeasuredGateway } from '../support/measured-gateway.ts';
import { ACCEPTED, KEYED, sendCommand, type CommandOutcome } from '../support/runtime.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';

/** Longer than a test. */
const FOREVER_MS = '600000';
const OWN = { 'x-restate-error-source': 'ingress' };
const PAGE = '<html><h1>Welcome to nginx</h1></html>';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const accept: Answer = (response) => response.writeHead(202).end(ACCEPTED);
const page =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(PAGE);

describe('what stands before the runtime', () => {
  let answer: Answer;
  const runtime = scriptedUpstream((request, response) => answer(response, request));
  let gateway: MeasuredGateway;

  async function start(env: Record<string, string> = {}): Promise<void> {
    gateway = forThisTest(
      await startMeasuredGateway({
        GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
        GATEWAY_RUNTIME_API: 'restate',
        // On a busy machine a late connection would open an outage of another kind.
        GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: FOREVER_MS,
        ...env,
      }),
    );
  }
  beforeEach(() => void (answer = accept));

  const send = (headers: Record<string, string> = {}, id?: string): Promise<CommandOutcome> =>
    sendCommand(gateway.url, headers, id);
  const idsSeen = (): (string | undefined)[] =>
    runtime.seen.map(({ target }) => target.split('/')[4]);

  // A proxy's page for three seconds ended sends for good: 400 runtime_rejected, 404 entity_type_not_registered.
  it.each([400, 401, 403, 404, 405, 500, 302])(
    'and answers a page with %d does not speak for the runtime',
    async (status) => {
      await start();
      let pages = 0;
      answer = (...parts) => (++pages <= 3 ? page(status)(...parts) : accept(...parts));
      expect((await send(KEYED)).status).toBe(202);
      expect(pages).toBe(4);

      pages = 0;
      const { status: told, body } = await send();
      expect([told, body]).toEqual([
        502,
        problem(
          502,
          'upstream_invalid_response',
          'An upstream gave an unusable answer',
          'The runtime gave an answer that cannot be used; nothing is known of the command. ' +
            'With an Idempotency-Key it can be repeated safely.',
          'to-a1',
        ),
      ]);
      expect(pages).toBe(1);
    },
  );

  it.each<[number, string, number, string]>([
    [400, '{"message":"bad"}', 400, 'runtime_rejected'],
    [404, '{"message":"service not found"}', 404, 'entity_type_not_registered'],
  ])('is not meant where the runtime itself says %d', async (status, text, told, code) => {
    await start();
    answer = (response) => response.writeHead(status, OWN).end(text);
    const outcome = await send(KEYED);
    expect([outcome.status, outcome.body.code]).toEqual([told, code]);
    expect(runtime.seen).toHaveLength(1);

    // Restate before 1.7.4 marks nothing, and is known by the form of its errors.
    await start({ GATEWAY_RUNTIME_API: 'classic' });
    answer = (response) => response.writeHead(status).end(text);
    expect((await send(KEYED)).body.code).toBe(code);
    expect(runtime.seen).toHaveLength(2);
  });

  it.each([
    [413, 'body_too_large'],
    [429, 'rate_limited'],
  ])('may say %d, which is about the very request', async (status, code) => {
    await start();
    answer = page(status, { 'retry-after': '7' });
    expect((await send(KEYED)).body.code).toBe(code);
    expect(runtime.seen).toHaveLength(1);
  });

  describe('and refuses every command', () => {
    /** Commands of several entities, until the gateway knows that the door is closed. */
    async function closeDoor(retryAfter: string): Promise<Promise<CommandOutcome>[]> {
      answer = page(503, { 'retry-after': retryAfter });
      const commands = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => send(KEYED, id));
      await gateway.until('gateway_runtime_outage_seconds', {}, (seconds) => seconds > 0);
      await gateway.until('gateway_waiting_commands', {}, 6);
      return commands;
    }

    // A door that said 503 with Retry-After: 20 got 1,490 requests a second.
    it('is asked by one of them, no sooner than it said, and the others wait', async () => {
      await start({
        GATEWAY_RUNTIME_OUTAGE_WAIT_MS: FOREVER_MS,
        GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: FOREVER_MS,
      });
      const waiting = await closeDoor('1');
      let before = runtime.seen.length;
      const refuse = answer;
      let refusedAtMs = performance.now();
      const pausesMs: number[] = [];
      answer = (...parts) => {
        pausesMs.push(performance.now() - refusedAtMs);
        // Before the response leaves, so that no stall of this process makes a pause look shorter.
        refusedAtMs = performance.now();
        refuse(...parts);
      };
      // With a key: the one that asks and is refused waits on.
      const more = Array.from({ length: 20 }, (_, i) => send(KEYED, `new${i}`));
      await gateway.until('gateway_waiting_commands', {}, 26);
      await until('the door is asked again', () => pausesMs.length >= 3);
      // The first refusal was before this measuring. A timer may be early by a millisecond.
      for (const pauseMs of pausesMs.slice(1)) expect(pauseMs).toBeGreaterThan(990);

      before = runtime.seen.length;
      answer = accept;
      for (const { status } of await Promise.all([...waiting, ...more])) expect(status).toBe(202);
      // The first one after the door opened is of an entity that had not been refused.
      expect(idsSeen()[before]).toMatch(/^new/);
      expect(await gateway.value('gateway_runtime_outage_seconds')).toBe(0);
      expect(new Set(idsSeen().slice(before)).size).toBe(26);
    });

    it('is waited for as long as an outage, and then named with its Retry-After', async () => {
      await start({ GATEWAY_RUNTIME_OUTAGE_WAIT_MS: '1500' });
      const waiting = await closeDoor('20');
      const seen = runtime.seen.length;
      const unsent = await send({}, 'new');
      expect(unsent).toEqual({
        status: 502,
        isReplay: false,
        retryAfter: '20',
        body: {
          ...problem(
            502,
            'upstream_unreachable',
            'An upstream could not be reached',
            'The server behind this route could not be reached, so nothing was sent; try again.',
            'to-new',
          ),
          sent: false,
        },
      });
      for (const { status, retryAfter, body } of await Promise.all(waiting)) {
        expect([status, retryAfter, body.code]).toEqual([502, '20', 'upstream_invalid_response']);
      }
      expect(runtime.seen).toHaveLength(seen);
    });

    // A client with requests that the door refuses could have kept all others out for 30 s at a time.
    it('lets a command with a key of another entity ask at once', async () => {
      await start({ GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: FOREVER_MS });
      const refuse = page(503, { 'retry-after': '30' });
      answer = (response, request) =>
        (request.url?.includes('/bad') ? refuse : accept)(response, request);
      const bad = ['bad1', 'bad2', 'bad1', 'bad2', 'bad1'].map((id) =>
        send(KEYED, id).catch(() => 'left'),
      );
      await gateway.until('gateway_runtime_outage_seconds', {}, (seconds) => seconds > 0);
      expect((await send(KEYED, 'good')).status).toBe(202);
      expect(await gateway.value('gateway_runtime_outage_seconds')).toBe(0);
      await gateway.stop();
      await Promise.all(bad);
    });

    // One client's failing requests must keep nobody out.
    it('is no outage where only one entity is refused, or others are accepted', async () => {
      await start({ GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '4000' });
      answer = (response, request) =>
        (request.url?.includes('/bad/') ? page(503) : accept)(response, request);
      const bad = [send(KEYED, 'bad'), send(KEYED, 'bad'), send(KEYED, 'bad')];
      const [first] = await Promise.all(bad);
      expect(first?.body.code).toBe('upstream_invalid_response');
      expect(runtime.seen.length).toBeGreaterThan(5);
      expect(await gateway.value('gateway_runtime_outage_seconds')).toBe(0);
      expect((await send({}, 'good')).status).toBe(202);
    });
  });
});
