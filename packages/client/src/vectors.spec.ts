import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { errorOfAnswer, isPassing, type APIError } from './api-error.ts';
import { conversation } from './conversation.ts';
import type { TimelineEvent } from './events.ts';
import { AgentGateway } from './gateway.ts';
import { checkedPath } from './path.ts';
import { mintReadToken, type ReadTokenRequest } from './tokens.ts';
import type { Conversation } from './turn.ts';

/** The cases of `packages/vectors`, which the Python client goes by, too. */
function vectors<T>(name: string): T {
  const file = join(import.meta.dirname, `../../vectors/${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

interface TokenCase {
  name: string;
  request: ReadTokenRequest;
  claims?: object;
  ttlSeconds?: number;
}

describe('read tokens', () => {
  it.each(vectors<TokenCase[]>('tokens'))('$name', async ({ request, claims, ttlSeconds }) => {
    const minted = mintReadToken(request);
    if (!claims) return expect(minted).rejects.toBeInstanceOf(TypeError);
    const { iat = 0, exp = 0, ...rest } = decodeJwt((await minted).token);
    expect({ claims: rest, ttlSeconds: exp - iat }).toEqual({ claims, ttlSeconds });
  });
});

describe('paths', () => {
  it.each(vectors<{ path: string; isTaken: boolean }[]>('paths'))(
    '$path is taken: $isTaken',
    ({ path, isTaken }) => {
      const check = () => checkedPath(path);
      if (isTaken) expect(check()).toBe(path);
      else expect(check).toThrow(TypeError);
    },
  );
});

interface ProblemCase {
  name: string;
  status: number;
  headers: Record<string, string>;
  text: string;
  isIdempotent: boolean;
  error: object;
  passes: boolean;
  passesWithAnotherKey: boolean;
}

describe('problems', () => {
  it.each(vectors<ProblemCase[]>('problems'))('$name', (given) => {
    const headers = new Headers(given.headers);
    const error = errorOfAnswer({ ...given, headers }, given.isIdempotent);
    expect(error).toMatchObject(given.error);
    expect([isPassing(error, false), isPassing(error, true)]).toEqual([
      given.passes,
      given.passesWithAnotherKey,
    ]);
  });
});

type RetryAnswer = 'lost' | { status: number; headers: Record<string, string>; text: string };
interface RetryCase {
  name: string;
  isIdempotent: boolean;
  isRenewable: boolean;
  answers: RetryAnswer[];
  tries: number;
  code?: string;
}

describe('retries', () => {
  it.each(vectors<RetryCase[]>('retries'))('$name', async (given) => {
    let tries = 0;
    const gateway = new AgentGateway({
      url: 'http://gateway.example',
      apiKey: given.isRenewable ? () => 'key' : 'key',
      fetch: () => {
        const answer = given.answers[tries++];
        if (answer === undefined || answer === 'lost') return Promise.reject(new Error('lost'));
        const { status, headers, text } = answer;
        return Promise.resolve(new Response(text || '{}', { status, headers }));
      },
    });
    // The registry answers a change that may happen twice; a query may be repeated.
    const call = given.isIdempotent
      ? gateway.invocations.list()
      : gateway.deployments.remove('dp_1');
    const error = await call.then(
      () => undefined,
      (failure: APIError) => failure,
    );
    const isTaken = error === undefined || error.message.startsWith('The answer is not that of');
    expect({ tries, code: isTaken ? undefined : error.code }).toEqual({
      tries: given.tries,
      code: given.code,
    });
  });
});

interface EventCase {
  name: string;
  present: number;
  pieceBytes: number;
  cuts: number[];
}
interface EventVectors {
  log: { items: TimelineEvent[]; nextOffset: string }[];
  frames: string[];
  cases: EventCase[];
}

describe('event streams', () => {
  const { log, frames, cases } = vectors<EventVectors>('events');

  /** A store with the log, whose connections break. */
  function storeOf({ present, pieceBytes, cuts }: EventCase): typeof fetch {
    let connections = 0;
    return (input) => {
      const { searchParams } = new URL(input as string);
      const offset = searchParams.get('offset');
      const place = log.findIndex(({ nextOffset }) => nextOffset === offset) + 1;
      if (searchParams.get('live') !== 'sse') {
        const found = log.slice(place, Math.max(place, present));
        const headers = {
          'content-type': 'application/json',
          'stream-next-offset': found.at(-1)?.nextOffset ?? offset ?? '',
          'stream-up-to-date': 'true',
          ...(place + found.length === log.length && { 'stream-closed': 'true' }),
        };
        const items = found.flatMap((chunk) => chunk.items);
        return Promise.resolve(new Response(JSON.stringify(items), { headers }));
      }
      const whole = new TextEncoder().encode(frames.slice(place).join(''));
      const cut = cuts[connections++] ?? whole.length;
      const sent = whole.slice(0, cut);
      let at = 0;
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (at >= sent.length) {
            if (cut < whole.length) controller.error(new TypeError('terminated'));
            else controller.close();
            return;
          }
          controller.enqueue(sent.slice(at, (at += pieceBytes)));
        },
      });
      const headers = { 'content-type': 'text/event-stream' };
      return Promise.resolve(new Response(body, { headers }));
    };
  }

  it.each(cases)('$name', async (given) => {
    const url = 'http://gateway.example';
    const gateway = new AgentGateway({ url, apiKey: 'key', fetch: storeOf(given) });
    const events: unknown[] = [];
    for await (const event of gateway.timeline('assistant/ada')) events.push(event);
    expect(events).toEqual(log.flatMap(({ items }) => items));
  });
});

interface ConversationCase {
  name: string;
  events: TimelineEvent[];
  conversation: object;
}

describe('conversations', () => {
  it.each(vectors<ConversationCase[]>('conversations'))('$name', (given) => {
    expect(told(conversation(given.events))).toEqual(given.conversation);
  });
});

/** As JSON has it, each turn once. */
function told({ turns, queued, items, ...rest }: Conversation): unknown {
  const whole = {
    ...rest,
    turns: turns.map(({ tools: _tools, ...turn }) => turn),
    queued: queued.map(({ key }) => key),
    items: items.map((item) => (item.kind === 'turn' ? item.key : item)),
  };
  return JSON.parse(JSON.stringify(whole)) as unknown;
}
