import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { AUTHORIZED, READ_TOKEN_SECRET, type TestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { parseRaw, rawRequest } from '../support/raw-client.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedUpstream, testGateway } from '../support/scripted-gateway.ts';
import { openWire, type Wire } from '../support/wire.ts';

/** Long enough for a read to begin. A read that begins too late on a busy machine is repeated. */
const TTL_SECONDS = 0.5;
/**
 * A read ends within a second after its token expires, and `ReadService` looks ten times a second. A busy machine may be
 * later; without the token's end these reads would last for ever.
 */
const ENDED_WITHIN_MS = 60_000;
/** The gateway waits this long for the end of an event, then it closes the connection. */
const STALL_MS = 2_000;
/** Node's timers count whole milliseconds. */
const EARLY_MS = 5;

const DATA = 'event: data\ndata: {"seq":1}\n\n';
const CONTROL = 'event: control\ndata: {"streamNextOffset":"1_1"}\n\n';

const pathOf = (target: string): string => target.replace(/\?.*/, '');

/** Resolves when the upstream's response is closed, at once if it already is. */
const closeOf = (response: ServerResponse): Promise<unknown> =>
  response.closed ? Promise.resolve() : once(response, 'close');

type Head = Record<string, string>;

/** An open read: the client's connection and the upstream's. */
interface Parked {
  wire: Wire;
  response: ServerResponse;
}

describe('a read whose token expires', () => {
  let gateway: TestGateway;
  let expiresAtMs: number;

  const mint = (prefix: string, ttlSeconds: number): Promise<string> =>
    mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds });
  /** Sends a read with a token that is about to expire. */
  async function beginRead(
    target: string,
    method = 'GET',
    ttlSeconds = TTL_SECONDS,
  ): Promise<Wire> {
    const prefix = target.startsWith('/shapes') ? '/shapes' : '/streams';
    const wire = await openWire(gateway.port);
    const expected = Date.now() + ttlSeconds * 1_000;
    const headers = ['X-Request-Id: r1', `Authorization: Bearer ${await mint(prefix, ttlSeconds)}`];
    await wire.write(rawRequest(`${method} ${target}`, headers));
    expiresAtMs = expected;
    return wire;
  }
  /** How late after the token's end it is, in milliseconds. */
  const lateness = (): number => Date.now() - expiresAtMs;

  const EXPIRED = problem(
    401,
    'token_expired',
    'The read token has expired',
    'The read token has expired; get a new one and continue from the last offset.',
  );

  describe('at an upstream that plays its part', () => {
    const answers = new Map<string, PromiseWithResolvers<ServerResponse>>();
    const upstream = scriptedUpstream(({ url = '' }, response) => {
      answerTo(url).resolve(response);
    });
    const own = testGateway(() => ({
      GATEWAY_HISTORY_URL: `${upstream.url}/streams`,
      GATEWAY_SYNC_URL: `${upstream.url}/shapes`,
    }));
    beforeAll(() => void (gateway = own));
    beforeEach(() => answers.clear());

    /** The answer that the upstream has to give to a read of this path. */
    function answerTo(target: string): PromiseWithResolvers<ServerResponse> {
      const path = pathOf(target);
      const answer = answers.get(path) ?? Promise.withResolvers<ServerResponse>();
      answers.set(path, answer);
      return answer;
    }
    /** Begins a read, and has it wait for an answer to begin, or to continue behind these first bytes. */
    async function park(target: string, head?: Head, body = ''): Promise<Parked> {
      for (let ttlSeconds = TTL_SECONDS; ; ttlSeconds *= 2) {
        answers.delete(pathOf(target));
        const wire = await beginRead(target, 'GET', ttlSeconds);
        const response = await Promise.race([answerTo(target).promise, wire.ended]);
        if (typeof response === 'string') continue;
        if (!head) return { wire, response };
        response.writeHead(200, head).flushHeaders();
        if (body !== '') response.write(body);
        try {
          await wire.until(/^HTTP\/1\.1 200 /);
          await wire.until(`\r\n${body}`);
          return { wire, response };
        } catch {
          // It has expired before it got so far.
        }
      }
    }
    const parkEvents = (target: string, events: string, head: Head = {}): Promise<Parked> =>
      park(target, { 'content-type': 'text/event-stream', ...head }, events);

    /** The bytes of a chunked answer so far, and whether it was ended as a whole one. */
    function eventsOf(wire: Wire): { events: string; isWhole: boolean } {
      let { body } = parseRaw(wire.received);
      let events = '';
      for (;;) {
        const [head = '', digits = ''] = /^([0-9a-f]+)\r\n/.exec(body) ?? [];
        const length = Number.parseInt(digits, 16);
        if (!(length > 0)) return { events, isWhole: body === '0\r\n\r\n' };
        events += body.slice(head.length, head.length + length);
        body = body.slice(head.length + length + '\r\n'.length);
      }
    }
    /** Until a read has been ended whose token expires just after the last one. */
    async function untilExpired(): Promise<void> {
      const ttlSeconds = (expiresAtMs - Date.now()) / 1_000 + 0.15;
      await (
        await beginRead('/streams/t/witness?live=true', 'GET', ttlSeconds)
      ).ended;
    }

    it.each(['/streams/t/x?live=true', '/shapes/v1/shape?table=entities&live=true'])(
      'is answered 401 while it is parked, and its upstream let go: %s',
      async (target) => {
        const { wire, response } = await park(target);
        const letGo = closeOf(response);
        await wire.ended;
        const { status, head, body } = parseRaw(wire.received);
        expect({ status, body: JSON.parse(body) as unknown }).toEqual({
          status: 401,
          body: EXPIRED,
        });
        expect(head).toMatch(/^WWW-Authenticate: Bearer error="invalid_token"$/im);
        expect(head).toMatch(/^Cache-Control: no-store$/im);
        expect(lateness()).toBeGreaterThanOrEqual(0);
        expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
        await letGo;
      },
    );

    it('is answered 401 while it is parked, with HEAD, too', async () => {
      const wire = await beginRead('/streams/t/x?live=true', 'HEAD');
      await wire.ended;
      expect(parseRaw(wire.received)).toMatchObject({ status: 401, body: '' });
    });

    it('is one of many, each with a token of its own, and all are answered', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const wire = await beginRead('/streams/t/x?live=true');
          await wire.ended;
          return parseRaw(wire.received).status;
        }),
      );
      expect(answers).toEqual(Array.from({ length: 50 }, () => 401));
    });

    it('ends an event stream at once that has not begun', async () => {
      const { wire } = await parkEvents('/streams/t/x', '');
      expect(await wire.ended).toBe('end');
      expect(eventsOf(wire)).toEqual({ events: '', isWhole: true });
      expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
    });

    it('breaks an event stream off that comes to no control event, be it at rest or not', async () => {
      const half = DATA + CONTROL + DATA.slice(0, 15);
      const resting = await parkEvents('/streams/t/resting', half);
      const restingExpiresAtMs = expiresAtMs;
      const restless = await parkEvents('/streams/t/restless', DATA);
      const more = setInterval(() => restless.response.write(DATA), 50);
      const letGo = Promise.all([resting, restless].map(({ response }) => closeOf(response)));
      await resting.wire.ended;
      const restedMs = Date.now() - restingExpiresAtMs;
      await restless.wire.ended;
      clearInterval(more);
      expect(eventsOf(resting.wire)).toEqual({ events: half, isWhole: false });
      expect(eventsOf(restless.wire).isWhole).toBe(false);
      expect(restedMs).toBeGreaterThan(STALL_MS - EARLY_MS);
      expect(lateness()).toBeLessThan(STALL_MS + ENDED_WITHIN_MS);
      await letGo;
    });

    it('breaks a compressed event stream off, whose events cannot be told apart', async () => {
      const headers = { 'content-encoding': 'gzip' };
      const { wire } = await parkEvents('/streams/t/x', 'compressed', headers);
      await wire.ended;
      expect(eventsOf(wire)).toEqual({ events: 'compressed', isWhole: false });
      expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
    });

    it('leaves another body that is under way to finish', async () => {
      const head = { 'content-type': 'application/json', 'content-length': '8' };
      const { wire, response } = await park('/streams/t/x', head, '[1,2');
      await untilExpired();
      response.end(',3]]');
      await wire.ended;
      expect(parseRaw(wire.received)).toMatchObject({ status: 200, body: '[1,2,3]]' });
    });

    it('is let be when the client has gone before', async () => {
      const { wire, response } = await park('/streams/t/x?live=true');
      const letGo = closeOf(response);
      wire.reset();
      await letGo;
      await untilExpired();
      expect(gateway.logLines.filter((line) => /uncaught|internal_error/.test(line))).toEqual([]);
    });
  });

  describe('at the real history store', () => {
    const PATH = '/streams/t/acme/agents/chat/a1/timeline';
    const history = forAllTests(() => startHistory());
    const own = testGateway(() => ({ GATEWAY_HISTORY_URL: history.url }));
    beforeAll(async () => {
      gateway = own;
      await send('PUT', { 'content-type': 'application/json' });
    });

    async function send(method: string, headers: object, body?: string): Promise<void> {
      const answer = await fetch(gateway.url + PATH, {
        method,
        headers: { ...AUTHORIZED, ...headers },
        body,
      });
      if (!answer.ok) throw new Error(`${method}: ${answer.status} ${await answer.text()}`);
    }
    const append = (seq: number): Promise<void> =>
      send('POST', { 'content-type': 'application/json' }, JSON.stringify({ seq }));
    const readWith = async (query: string, ttlSeconds: number): Promise<Response> =>
      fetch(`${gateway.url}${PATH}?${query}`, {
        headers: { authorization: `Bearer ${await mint(PATH, ttlSeconds)}` },
      });
    /** An event stream that has begun before its token expired. */
    async function openEvents(offset: string): Promise<Response> {
      for (let ttlSeconds = TTL_SECONDS; ; ttlSeconds *= 2) {
        expiresAtMs = Date.now() + ttlSeconds * 1_000;
        const stream = await readWith(`offset=${offset}&live=sse`, ttlSeconds);
        if (stream.status === 200) return stream;
      }
    }
    const nextOffset = (answer: Response): string => answer.headers.get('stream-next-offset') ?? '';

    it('continues by long-poll with a fresh token from where it was', async () => {
      await append(1);
      const caughtUp = await readWith('offset=-1', 60);
      expect(await caughtUp.json()).toEqual([{ seq: 1 }]);

      expiresAtMs = Date.now() + TTL_SECONDS * 1_000;
      const query = `offset=${nextOffset(caughtUp)}&live=long-poll`;
      const parked = await readWith(query, TTL_SECONDS);
      expect(parked.status).toBe(401);
      expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
      await parked.text();

      await append(2);
      const resumed = await readWith(query, 60);
      expect([resumed.status, await resumed.json()]).toEqual([200, [{ seq: 2 }]]);
    });

    it('continues by events with a fresh token, with every event once', async () => {
      const received: unknown[] = [];
      let offset = nextOffset(await readWith('offset=now', 60));
      // On a busy machine an append can outlast the token, and comes with the next one's stream.
      for (let round = 1; round <= 2 || received.flat().length < 2; round++) {
        const stream = await openEvents(offset);
        const appended = round <= 2 ? append(round * 10) : undefined;
        // The whole of it, which is an error where it is broken off.
        const text = await stream.text();
        await appended;
        expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
        expect(text).toMatch(/event: control\ndata:.*\n\n$/);
        for (const [, name, json = ''] of text.matchAll(/event: (\w+)\ndata: ?(.*)\n\n/g)) {
          const value = JSON.parse(json) as { streamNextOffset: string };
          if (name === 'control') offset = value.streamNextOffset;
          else received.push(value);
        }
      }
      expect(received.flat()).toEqual([{ seq: 10 }, { seq: 20 }]);
    });
  });
});
