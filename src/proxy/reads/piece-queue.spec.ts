import { beforeEach, describe, expect, it } from '@jest/globals';
import { HeldBytes, PIECE_OVERHEAD_BYTES } from '../../platform/memory/held-bytes.ts';
import { PieceQueue } from './piece-queue.ts';

const piece = (bytes: number, fill = 'x'): Buffer => Buffer.alloc(bytes, fill);

describe('PieceQueue', () => {
  let held: HeldBytes;
  let queue: PieceQueue;
  beforeEach(() => {
    held = new HeldBytes(1_000_000);
    queue = new PieceQueue(held);
  });
  const counts = () => [queue.bytes, held.of('answers')];

  it('counts a piece until its client has read it', () => {
    expect([queue.isEmpty, queue.next()]).toEqual([true, undefined]);
    queue.add(piece(100));
    expect([queue.isEmpty, ...counts()]).toEqual([
      false,
      100 + PIECE_OVERHEAD_BYTES,
      100 + PIECE_OVERHEAD_BYTES,
    ]);
    expect(queue.next()).toEqual(piece(100));
    expect([queue.isEmpty, ...counts()]).toEqual([true, 100, 100]);
    queue.taken(40);
    expect(counts()).toEqual([60, 60]);
    queue.taken(60);
    expect(counts()).toEqual([0, 0]);
  });

  it('counts a piece that is sent at once', () => {
    queue.pass(piece(100));
    expect([queue.isEmpty, ...counts()]).toEqual([true, 100, 100]);
    queue.taken(100);
    expect(counts()).toEqual([0, 0]);
  });

  it('joins small pieces in their order, up to 16 KiB', () => {
    queue.add(piece(10_000, 'a'));
    queue.add(piece(6_384, 'b'));
    queue.add(piece(1, 'c'));
    expect(queue.next()).toEqual(Buffer.concat([piece(10_000, 'a'), piece(6_384, 'b')]));
    expect(counts()).toEqual([16_385 + PIECE_OVERHEAD_BYTES, 16_385 + PIECE_OVERHEAD_BYTES]);
    expect(queue.next()).toEqual(piece(1, 'c'));
  });

  it('gives a large piece alone, without a copy', () => {
    const large = piece(100_000);
    queue.add(large);
    queue.add(piece(1));
    expect(queue.next()).toBe(large);
    expect(queue.next()).toEqual(piece(1));
  });

  // A client that left kept the bytes of its response in the budget.
  it('returns to the budget what it is rid of', () => {
    queue.pass(piece(100));
    queue.add(piece(200));
    queue.clear();
    expect([queue.isEmpty, queue.next(), ...counts()]).toEqual([true, undefined, 0, 0]);
  });
});
