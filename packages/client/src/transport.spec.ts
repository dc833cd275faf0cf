import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AgentGateway, type AgentGatewayOptions } from './index.ts';

const ACCEPTED = JSON.stringify({
  url: '/t/default/a/chat/a1',
  streamPath: '/t/default/agents/chat/a1/timeline',
  streamUrl: '/streams/t/default/agents/chat/a1/timeline',
  restate: { invocationId: 'inv_1' },
});

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A client whose requests get these answers, the last one from then on. */
function client(answers: (() => Response)[], options: Partial<AgentGatewayOptions> = {}) {
  const asked: string[] = [];
  const gateway = new AgentGateway({
    url: 'http://gateway.test',
    fetch: (input, init) => {
      const { pathname } = new URL(input as string, 'http://page.test');
      asked.push(`${init?.method} ${pathname}`);
      return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1]!());
    },
    ...options,
  });
  return { gateway, asked };
}

const accepted = () => new Response(ACCEPTED, { status: 202, headers: { 'x-request-id': 'r' } });
const foreign = (status: number) => () => new Response('<html>no', { status });
const own = (status: number) => () =>
  new Response('no', { status, headers: { 'x-request-id': 'r' } });

/** Lets time pass until the promise settles. Rejects as it does. */
async function inTime<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  promise.then(
    () => (isSettled = true),
    () => (isSettled = true),
  );
  for (let turn = 0; turn < 300 && !isSettled; turn++) await jest.advanceTimersByTimeAsync(500);
  return promise;
}

describe('a command', () => {
  it.each([403, 404, 410])('outlasts a %i that is not of the gateway', async (status) => {
    const { gateway, asked } = client([foreign(status), foreign(status), accepted]);
    const { invocationId } = await inTime(gateway.agents.send('chat/a1', 'hello'));
    expect([invocationId, asked.length]).toEqual(['inv_1', 3]);
  });

  it('fails with one after a minute, in a sentence', async () => {
    const { gateway } = client([foreign(404)]);
    const beganAtMs = performance.now();
    await expect(inTime(gateway.agents.send('chat/a1', 'hello'))).rejects.toMatchObject({
      status: 404,
      message: '404 A server between here and the gateway answered with a page.',
    });
    const tookMs = performance.now() - beganAtMs;
    expect(tookMs).toBeGreaterThan(55_000);
    expect(tookMs).toBeLessThan(70_000);
  });

  it('fails at once with a 4xx of the gateway', async () => {
    const { gateway, asked } = client([own(404)]);
    await expect(gateway.agents.send('chat/a1', 'hello')).rejects.toMatchObject({ status: 404 });
    expect(asked).toHaveLength(1);
  });

  // The session of the page is over, and no proxy of its own says so in another way.
  it('fails at once with a bare 401 of the back end', async () => {
    const { gateway, asked } = client([foreign(401)], { backEnd: '/chat' });
    await expect(gateway.agents.send('chat/a1', 'hello')).rejects.toMatchObject({ status: 401 });
    expect(asked).toEqual(['POST /chat/api/a/chat/a1/send']);
  });
});

describe('a message that is asked', () => {
  // Its HEAD gave up after 5 s, and said `http_502: 502`.
  it('outlasts what a message that is sent outlasts', async () => {
    const answers = [...Array.from({ length: 10 }, () => foreign(502)), own(404), accepted];
    const { gateway, asked } = client(answers);
    const { invocationId } = await inTime(gateway.agents.ask('chat/a1', 'hello').sent);
    expect(invocationId).toBe('inv_1');
    expect(asked.slice(-3)).toEqual([
      'HEAD /streams/t/default/agents/chat/a1/timeline',
      'HEAD /streams/t/default/agents/chat/a1/timeline',
      'POST /api/a/chat/a1/send',
    ]);
  });

  it('fails in a sentence', async () => {
    const { gateway } = client([() => new Response(null, { status: 502 })]);
    const asking = gateway.agents.ask('chat/a1', 'hello', { retryForMs: 0 }).sent;
    await expect(asking).rejects.toMatchObject({
      code: 'http_502',
      message: '502 The server gave no reason.',
    });
  });
});
