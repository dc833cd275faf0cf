import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listening, type Listening } from '../../test/support/listening.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import { outgoingBody } from './outgoing-body.ts';

const MAX_BODY_BYTES = 1_000_000;

let held: HeldBytes;
let server: Listening;
let outcome: Promise<{ heldBytes: number; sentBytes: number; lengthBytes?: number } | undefined>;

beforeEach(async () => {
  held = new HeldBytes(1_000_000);
  const taking = createServer((incoming, response) => {
    outcome = (async () => {
      try {
        const body = await outgoingBody(incoming, response, MAX_BODY_BYTES, held);
        const heldBytes = held.byKind.bodies;
        if (!body) return undefined;
        if ('bytes' in body) return { heldBytes, sentBytes: body.bytes.length };
        const { length } = await text(body.stream);
        return { heldBytes, sentBytes: length, lengthBytes: body.lengthBytes };
      } finally {
        response.end();
        await once(response, 'close');
      }
    })();
    outcome.catch(() => undefined);
  });
  server = await listening(taking);
});
afterEach(() => server.stop());

/** Sends a body, and waits for the response. */
async function post(bytes: number, headers: Record<string, string | number>): Promise<void> {
  const sent = request({ port: server.port, host: '127.0.0.1', method: 'POST', headers });
  sent.end(Buffer.alloc(bytes, 'a'));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await text(response);
}

describe('a body for an upstream', () => {
  // A streamed body must count as much as it can hold, or uploads are outside of the budget of memory.
  it.each([
    [1_000, 1_000],
    [131_072, 131_072],
    [131_073, 131_072],
    [900_000, 131_072],
  ])('of %d bytes that is streamed counts %d', async (bytes, heldBytes) => {
    await post(bytes, { 'content-length': bytes });
    expect(await outcome).toEqual({ heldBytes, sentBytes: bytes, lengthBytes: bytes });
    expect(held.total).toBe(0);
  });

  it('of no declared length is whole before it goes on', async () => {
    await post(1_000, { 'transfer-encoding': 'chunked' });
    expect(await outcome).toEqual({ heldBytes: expect.any(Number), sentBytes: 1_000 });
    expect(held.total).toBe(0);
  });

  it.each<Record<string, string | number>>([
    { 'content-length': 0 },
    { 'transfer-encoding': 'chunked' },
  ])('that is empty is none: %j', async (headers) => {
    await post(0, headers);
    expect(await outcome).toBeUndefined();
  });

  it('is refused where the budget has no room for what it can hold', async () => {
    // New work gets three quarters of the budget.
    held.hold('answers', 750_000 - 131_071);
    await post(200_000, { 'content-length': 200_000 });
    await expect(outcome).rejects.toMatchObject({ code: 'overloaded' });
    expect(held.byKind.bodies).toBe(0);
  });
});
