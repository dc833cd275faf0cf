import { beforeEach, describe, expect, it } from '@jest/globals';
import { HeldBytes, PIECE_OVERHEAD_BYTES } from '../../platform/memory/held-bytes.ts';
import type { Reader } from './reader.ts';
import { SoleBody } from './sole-body.ts';
import type { UpstreamRead } from './upstream-read.ts';

const piece = (bytes: number, fill = 'x'): Buffer => Buffer.alloc(bytes, fill);

describe('SoleBody', () => {
  const reader = { isReady: false, isSending: false, call: { context: {} }, write() {}, wake() {} };
  const self = reader as unknown as Reader;
  let isPaused: boolean;
  let held: HeldBytes;
  let body: SoleBody;
  beforeEach(() => {
    reader.isReady = false;
    isPaused = false;
    held = new HeldBytes(1_000_000);
    const read = {
      pause: () => void (isPaused = true),
      resume: () => void (isPaused = false),
      cancel: () => undefined,
    } as unknown as UpstreamRead;
    body = new SoleBody(self, read, held, undefined);
  });
  const next = (): Buffer | undefined => body.next(self);

  it('counts a piece until its client has read it', () => {
    expect(next()).toBeUndefined();
    body.onChunk(piece(100));
    expect(held.of('answers')).toBe(100 + PIECE_OVERHEAD_BYTES);
    expect(next()).toEqual(piece(100));
    expect(held.of('answers')).toBe(100);
    body.onTaken(self, 40);
    expect(held.of('answers')).toBe(60);
    body.onTaken(self, 60);
    expect(held.of('answers')).toBe(0);
  });

  it('counts a piece that is sent at once', () => {
    reader.isReady = true;
    body.onChunk(piece(100));
    expect([next(), held.of('answers')]).toEqual([undefined, 100]);
    body.onTaken(self, 100);
    expect(held.of('answers')).toBe(0);
  });

  it('joins small pieces in their order, up to 16 KiB', () => {
    body.onChunk(piece(10_000, 'a'));
    body.onChunk(piece(6_384, 'b'));
    body.onChunk(piece(1, 'c'));
    expect(next()).toEqual(Buffer.concat([piece(10_000, 'a'), piece(6_384, 'b')]));
    expect(held.of('answers')).toBe(16_385 + PIECE_OVERHEAD_BYTES);
    expect(next()).toEqual(piece(1, 'c'));
  });

  it('gives a large piece alone, without a copy', () => {
    const large = piece(100_000);
    body.onChunk(large);
    body.onChunk(piece(1));
    expect(next()).toBe(large);
    expect(next()).toEqual(piece(1));
  });

  it('pauses its read with 64 KiB, waiting or in flight, and resumes it with a byte less', () => {
    body.onChunk(piece(1_000));
    next();
    body.onChunk(piece(65_536 - 1_001 - PIECE_OVERHEAD_BYTES));
    expect(isPaused).toBe(false);
    reader.isReady = true;
    next();
    body.onChunk(piece(PIECE_OVERHEAD_BYTES + 1));
    expect(isPaused).toBe(true);
    body.onTaken(self, 1);
    expect(isPaused).toBe(false);
  });

  it('is whole when its read has ended and no piece waits', () => {
    body.onChunk(piece(1));
    expect(body.isWhole()).toBe(false);
    body.onEnd();
    expect(body.isWhole()).toBe(false);
    next();
    expect(body.isWhole()).toBe(true);
  });

  // A client that left kept the bytes of its response in the budget.
  it('returns to the budget what it holds when its reader leaves', () => {
    reader.isReady = true;
    body.onChunk(piece(100));
    reader.isReady = false;
    body.onChunk(piece(200));
    body.leave(self);
    expect([next(), held.of('answers')]).toEqual([undefined, 0]);
  });
});
