import { PassThrough } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { GatewayError } from '../errors/gateway-error.ts';
import { HeldBytes } from '../memory/held-bytes.ts';
import { BodyRoom, checkDeclaredBody, readBody } from './request-body.ts';

const held = new HeldBytes(1_000_000_000);

/** A request whose body comes in these pieces. */
function requestOf(pieces: readonly Uint8Array[]): IncomingMessage {
  const stream = new PassThrough();
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return stream as unknown as IncomingMessage;
}

async function outcome(body: Promise<Buffer>): Promise<Buffer | string> {
  return body.catch((error: GatewayError) => error.code);
}

describe('readBody', () => {
  it('gives the very bytes up to the cap and refuses one byte more, however they are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 10 }),
        fc.integer({ min: 1, max: 250 }),
        async (pieces, maxBodyBytes) => {
          const whole = Buffer.concat(pieces);
          const read = await outcome(readBody(requestOf(pieces), maxBodyBytes, new BodyRoom(held)));
          expect(read).toEqual(whole.length > maxBodyBytes ? 'body_too_large' : whole);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('holds no more of an oversized body than the cap', async () => {
    let pulled = 0;
    const endless = new PassThrough();
    const feed = setInterval(() => {
      pulled += 1_000;
      endless.write(Buffer.alloc(1_000));
    }, 1);
    const read = await outcome(
      readBody(endless as unknown as IncomingMessage, 5_000, new BodyRoom(held)),
    );
    clearInterval(feed);
    expect(read).toBe('body_too_large');
    expect(pulled).toBeLessThanOrEqual(7_000);
  });

  // 300 unfinished chunked bodies held 440 MiB, each below its own cap.
  it('refuses what does not fit into the budget of all bodies, and gives its room back', async () => {
    const budget = new HeldBytes(10_000);
    const others = new BodyRoom(budget);
    others.take(5_000);
    const room = new BodyRoom(budget);
    const pieces = [Buffer.alloc(1_000), Buffer.alloc(1_000)];
    expect(await outcome(readBody(requestOf(pieces), 1_000_000, room))).toBe('overloaded');
    room.release();
    expect(budget.byKind.bodies).toBe(5_000);
    others.release();
    const again = await outcome(readBody(requestOf(pieces), 1_000_000, room));
    expect(again).toEqual(Buffer.alloc(2_000));
  });

  // A body in chunks of one byte takes hundreds of bytes for each.
  it('counts what small pieces take beside their bytes', async () => {
    const budget = new HeldBytes(1_000_000);
    const pieces = Array.from({ length: 100 }, () => Buffer.from('x'));
    const room = new BodyRoom(budget);
    const request = new PassThrough();
    const body = readBody(request as unknown as IncomingMessage, 1_000, room);
    for (const piece of pieces) {
      request.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    request.end();
    expect((await body).length).toBe(100);
    expect(budget.byKind.bodies).toBeGreaterThan(20_000);
  });
});

describe('checkDeclaredBody', () => {
  it('refuses every declared length over the cap and no other', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 25n }),
        fc.integer({ min: 1, max: 1_073_741_824 }),
        (length, maxBodyBytes) => {
          const request = { headers: { 'content-length': String(length) } } as IncomingMessage;
          const check = (): void => checkDeclaredBody(request, maxBodyBytes);
          if (length > BigInt(maxBodyBytes)) {
            expect(check).toThrow(expect.objectContaining({ code: 'body_too_large' }));
          } else expect(check).not.toThrow();
        },
      ),
    );
  });
});
