import { EventEmitter } from 'node:events';
import { Agent, type ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { ForwardAttempt, type ForwardedRequest } from './forward-attempt.ts';

describe('ForwardAttempt', () => {
  // The attempt was lost, but not its timer: later its promise, which nobody had, rejected and ended the process.
  it('rejects a request that Node refuses to send, and leaves nothing behind', async () => {
    const response = new EventEmitter();
    const request = {
      client: { method: 'GET', socket: {} },
      response: response as ServerResponse,
      upstream: { base: new URL('http://127.0.0.1:9') },
      target: '/',
      headers: { 'x-two-lines': 'a\nb' },
      body: undefined,
    } as unknown as ForwardedRequest;
    const options = { agent: new Agent(), connectMs: 1_000, timeoutMs: 60_000, isResent: false };
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();

    const { answer } = new ForwardAttempt(request, options);

    await expect(answer).rejects.toThrow('Invalid character in header content');
    expect(response.listenerCount('close')).toBe(0);
    expect(timers()).toBe(before);
  });
});
