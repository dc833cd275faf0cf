import { beforeEach, describe, expect, it } from '@jest/globals';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { SharedBody } from './shared-body.ts';

const FULL = expect.objectContaining({ code: 'overloaded', reason: 'memory' });

describe('SharedBody', () => {
  let held: HeldBytes;
  // Three quarters of it are open to new work.
  beforeEach(() => void (held = new HeldBytes(8_000)));

  it('reserves a declared length at once, and gives it back after the last reader', () => {
    const body = new SharedBody(held, 1_000);
    expect(held.of('answers')).toBe(1_000);
    body.add(Buffer.from('a'));
    expect(held.of('answers')).toBe(1_000);
    body.giveTo(2);
    body.leave();
    expect(held.of('answers')).toBe(1_000);
    body.leave();
    expect(held.of('answers')).toBe(0);
  });

  it('reserves what comes without a declared length, or beyond it', () => {
    for (const declaredBytes of [undefined, 10]) {
      const body = new SharedBody(held, declaredBytes);
      body.add(Buffer.alloc(1_000));
      expect(held.of('answers')).toBeGreaterThanOrEqual(1_000);
      body.release();
      body.release();
      expect(held.of('answers')).toBe(0);
    }
  });

  it('has no room beyond the budget, and then holds nothing more', () => {
    expect(() => new SharedBody(held, 6_001)).toThrow(FULL);
    expect(held.total).toBe(0);
    const body = new SharedBody(held, 5_000);
    expect(() => body.add(Buffer.alloc(6_000))).toThrow(FULL);
    expect(held.total).toBe(5_000);
  });

  it('gives its bytes back at once where nobody is left to read them', () => {
    const body = new SharedBody(held, 1_000);
    body.giveTo(0);
    expect(held.total).toBe(0);
  });

  it.each([[[]], [['all']], [['a'.repeat(400), 'b'.repeat(400), 'c']]])(
    'is whole in one piece: %#',
    (pieces: string[]) => {
      const body = new SharedBody(held, undefined);
      for (const piece of pieces) body.add(Buffer.from(piece));
      expect(body.whole()?.toString()).toBe(pieces.join('') || undefined);
    },
  );
});
