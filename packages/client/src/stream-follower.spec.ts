import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { AgentGateway } from './index.ts';

/** An event stream that ends after its first control event. */
const SHORT_STREAM = `event: control\ndata: ${JSON.stringify({ streamNextOffset: '1_0', upToDate: true })}\n\n`;
const HEADERS = { 'content-type': 'text/event-stream', 'stream-next-offset': '1_0' };

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a read of a timeline', () => {
  // The protocol's client opened an event stream that nobody could end any more.
  it('asks for nothing more after an abort that comes between two event streams', async () => {
    let requests = 0;
    const fetchNow = (): Promise<Response> => {
      requests += 1;
      if (requests > 2) return new Promise(() => undefined);
      return Promise.resolve(new Response(SHORT_STREAM, { headers: HEADERS }));
    };
    const left = new AbortController();
    // It draws how long it waits before it connects again: here as short as can be, with the abort in it.
    jest.spyOn(Math, 'random').mockImplementation(() => {
      left.abort();
      return 0;
    });
    const gateway = new AgentGateway({ url: 'http://gateway.test', fetch: fetchNow });
    await gateway
      .timeline('chat/a1', { signal: left.signal })
      .subscribe(() => undefined)
      .catch(() => undefined);
    expect(left.signal.aborted).toBe(true);
    // Far more turns than it would take.
    for (let turn = 0; turn < 20; turn++) await sleep(1);
    expect(requests).toBe(1);
  });
});
