import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AUTHORIZED,
  READ_TOKEN_SECRET,
  startTestGateway,
  type TestGateway,
} from './support/gateway.ts';
import { startHistory, type RunningHistory } from './support/history.ts';
import { parseRaw, rawRequest } from './support/raw-client.ts';
import { mintReadToken } from './support/read-tokens.ts';
import { startScriptedUpstream, type ScriptedUpstream } from './support/scripted-upstream.ts';
import { openWire, type Wire } from './support/wire.ts';

const TTL_SECONDS = 0.5;
/** A read ends within a second of its token. */
const ENDED_WITHIN_MS = 1_000;
/** So long may a stream stay inside of an event, then it is broken off. */
const STALL_MS = 2_000;

const DATA = 'event: data\ndata: {"seq":1}\n\n';
const CONTROL = 'event: control\ndata: {"streamNextOffset":"1_1"}\n\n';

describe('a read whose token expires', () => {
  let gateway: TestGateway;
  let expiresAtMs: number;

  const mint = (prefix: string): Promise<string> => {
    expiresAtMs = Date.now() + TTL_SECONDS * 1_000;
    return mintReadToken(READ_TOKEN_SECRET, { prefix, ttlSeconds: TTL_SECONDS });
  };
  /** Sends a read with a token that is about to expire. */
  async function beginRead(target: string, line = 'GET'): Promise<Wire> {
    const prefix = target.startsWith('/shapes') ? '/shapes' : '/streams';
    const headers = ['X-Request-Id: r1', `Authorization: Bearer ${await mint(prefix)}`];
    const wire = await openWire(gateway.port);
    await wire.write(rawRequest(`${line} ${target}`, headers));
    return wire;
  }
  /** How late after the token's end it is, in milliseconds. */
  const lateness = (): number => Date.now() - expiresAtMs;

  const EXPIRED = {
    type: 'urn:agent-gateway:error:token_expired',
    title: 'The read token has expired',
    status: 401,
    detail: 'The read token has expired; get a fresh one and go on from the last offset.',
    code: 'token_expired',
    requestId: 'r1',
  };

  describe('at an upstream that plays its part', () => {
    let upstream: ScriptedUpstream;
    const answers = new Map<string, PromiseWithResolvers<ServerResponse>>();
    beforeAll(async () => {
      upstream = await startScriptedUpstream(({ url = '' }, response) => {
        answerTo(url).resolve(response);
      });
      gateway = await startTestGateway({
        GATEWAY_HISTORY_URL: `${upstream.url}/streams`,
        GATEWAY_SYNC_URL: `${upstream.url}/shapes`,
      });
    });
    beforeEach(() => answers.clear());
    afterAll(() => Promise.all([gateway?.stop(), upstream?.stop()]));

    /** The answer that the upstream has to give to a read of this path. */
    function answerTo(target: string): PromiseWithResolvers<ServerResponse> {
      const path = target.replace(/\?.*/, '');
      const answer = answers.get(path) ?? Promise.withResolvers<ServerResponse>();
      answers.set(path, answer);
      return answer;
    }
    /** Begins a read whose answer is an event stream that holds these bytes so far. */
    async function beginEvents(
      target: string,
      events: string,
      headers: Record<string, string> = {},
    ): Promise<{ wire: Wire; response: ServerResponse }> {
      const wire = await beginRead(target);
      const response = await answerTo(target).promise;
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
      response.flushHeaders();
      if (events !== '') response.write(events);
      await wire.until(
        `\r\n\r\n${events === '' ? '' : `${events.length.toString(16)}\r\n${events}`}`,
      );
      return { wire, response };
    }
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
    /** Until a read has been ended whose token expires after those of all others. */
    async function untilExpired(): Promise<void> {
      await (
        await beginRead('/streams/t/witness?live=true')
      ).ended;
    }

    it.each(['/streams/t/x?live=true', '/shapes/v1/shape?table=entities&live=true'])(
      'is answered 401 while it is parked, and its upstream let go: %s',
      async (target) => {
        const wire = await beginRead(target);
        const response = await answerTo(target).promise;
        const letGo = once(response, 'close');
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

    it('ends an event stream at once that rests behind a control event', async () => {
      const { wire, response } = await beginEvents('/streams/t/x', DATA + CONTROL);
      const letGo = once(response, 'close');
      expect(await wire.ended).toBe('end');
      expect(eventsOf(wire)).toEqual({ events: DATA + CONTROL, isWhole: true });
      expect(lateness()).toBeGreaterThanOrEqual(0);
      expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
      await letGo;
    });

    it('ends an event stream at once that has not begun', async () => {
      const { wire } = await beginEvents('/streams/t/x', '');
      expect(await wire.ended).toBe('end');
      expect(eventsOf(wire)).toEqual({ events: '', isWhole: true });
      expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
    });

    // An end here would give the reader its data twice: it resumes from the offset of the last control.
    it('ends an event stream between data and control not before the control event', async () => {
      const { wire, response } = await beginEvents('/streams/t/x', DATA);
      await untilExpired();
      response.write(`: ping\n\n${CONTROL.slice(0, 20)}`);
      await wire.until(CONTROL.slice(0, 20));
      response.write(`${CONTROL.slice(20)}${DATA}`);
      expect(await wire.ended).toBe('end');
      expect(eventsOf(wire)).toEqual({ events: `${DATA}: ping\n\n${CONTROL}`, isWhole: true });
    });

    it('breaks an event stream off that comes to no control event, be it at rest or not', async () => {
      const half = DATA + CONTROL + DATA.slice(0, 15);
      const resting = await beginEvents('/streams/t/resting', half);
      const restless = await beginEvents('/streams/t/restless', DATA);
      const more = setInterval(() => restless.response.write(DATA), 50);
      const letGo = Promise.all([resting, restless].map(({ response }) => once(response, 'close')));
      await resting.wire.ended;
      const earliest = lateness();
      await restless.wire.ended;
      clearInterval(more);
      expect(eventsOf(resting.wire)).toEqual({ events: half, isWhole: false });
      expect(eventsOf(restless.wire).isWhole).toBe(false);
      // The first of the two expired a little before the second, to which the times are.
      expect(earliest).toBeGreaterThan(STALL_MS - ENDED_WITHIN_MS / 2);
      expect(lateness()).toBeLessThan(STALL_MS + ENDED_WITHIN_MS);
      await letGo;
    });

    it('ends an event stream of the sync engine behind any event', async () => {
      const { wire, response } = await beginEvents('/shapes/v1/shape?table=entities', 'data: {"a"');
      await untilExpired();
      response.write(':1}\n\ndata: {"b":2}\n\n');
      expect(await wire.ended).toBe('end');
      expect(eventsOf(wire)).toEqual({ events: 'data: {"a":1}\n\n', isWhole: true });
    });

    it('breaks a compressed event stream off, whose events cannot be told apart', async () => {
      const headers = { 'content-encoding': 'gzip' };
      const { wire } = await beginEvents('/streams/t/x', 'compressed', headers);
      await wire.ended;
      expect(eventsOf(wire)).toEqual({ events: 'compressed', isWhole: false });
      expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
    });

    it('leaves another body that is under way to finish', async () => {
      const wire = await beginRead('/streams/t/x');
      const response = await answerTo('/streams/t/x').promise;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '8' });
      response.write('[1,2');
      await wire.until('[1,2');
      await untilExpired();
      response.end(',3]]');
      await wire.ended;
      expect(parseRaw(wire.received)).toMatchObject({ status: 200, body: '[1,2,3]]' });
    });

    it('is let be when the client has gone before', async () => {
      const wire = await beginRead('/streams/t/x?live=true');
      const response = await answerTo('/streams/t/x').promise;
      const letGo = once(response, 'close');
      wire.reset();
      await letGo;
      await untilExpired();
      expect(gateway.logLines.filter((line) => /uncaught|internal_error/.test(line))).toEqual([]);
    });
  });

  describe('at the real history store', () => {
    const PATH = '/streams/t/acme/agents/chat/a1/timeline';
    let history: RunningHistory;
    beforeAll(async () => {
      history = await startHistory();
      gateway = await startTestGateway({ GATEWAY_HISTORY_URL: history.url });
      await send('PUT', { 'content-type': 'application/json' });
    });
    afterAll(async () => {
      await gateway?.stop();
      await history?.stop();
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
    const readWith = async (query: string): Promise<Response> =>
      fetch(`${gateway.url}${PATH}?${query}`, {
        headers: { authorization: `Bearer ${await mint(PATH)}` },
      });
    const nextOffset = (answer: Response): string => answer.headers.get('stream-next-offset') ?? '';

    it('goes on by long-poll with a fresh token from where it was', async () => {
      await append(1);
      const caughtUp = await readWith('offset=-1');
      expect(await caughtUp.json()).toEqual([{ seq: 1 }]);

      const parked = await readWith(`offset=${nextOffset(caughtUp)}&live=long-poll`);
      expect(parked.status).toBe(401);
      expect(lateness()).toBeLessThan(ENDED_WITHIN_MS);
      await parked.text();

      await append(2);
      const resumed = await readWith(`offset=${nextOffset(caughtUp)}&live=long-poll`);
      expect([resumed.status, await resumed.json()]).toEqual([200, [{ seq: 2 }]]);
    });

    it('goes on by events with a fresh token, with every event once', async () => {
      const received: unknown[] = [];
      let offset = nextOffset(await readWith('offset=now'));
      for (let round = 1; round <= 2; round++) {
        const stream = await readWith(`offset=${offset}&live=sse`);
        const appended = append(round * 10);
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
