import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { AnswerLog } from './answer-log.ts';
import { SseBoundary } from './sse-boundary.ts';

const EVENT = `data: ${'x'.repeat(92)}\n\n`;
/** Further from a place than this no end is taken, if there is a nearer one. */
const NEAR_BYTES = 4_096;

describe('AnswerLog', () => {
  let held: HeldBytes;
  let log: AnswerLog;
  const append = (text: string): number | undefined => log.append(Buffer.from(text));
  beforeEach(() => {
    held = new HeldBytes(10_000_000);
    log = new AnswerLog(held, 'events', new SseBoundary());
  });

  it('may end at its beginning, where a piece lets it, and nowhere in an event', () => {
    expect(log.safeEndFrom(0)).toBe(0);
    expect(append('data: 1')).toBeUndefined();
    expect(log.safeEndFrom(1)).toBeUndefined();
    expect(append('\n\ndata: 2\n\ndata: 3')).toBe(9);
    expect([0, 1, 10, 19].map((place) => log.safeEndFrom(place))).toEqual([18, 18, 18, undefined]);
  });

  it('may end near every place, however many events it has, at the end of one of them', () => {
    for (let event = 0; event < 1_000; event++) append(EVENT);
    for (let place = 0; place <= log.end; place += 77) {
      const end = log.safeEndFrom(place) ?? Number.NaN;
      expect(end % EVENT.length).toBe(0);
      expect(end - place).toBeGreaterThanOrEqual(0);
      expect(end - place).toBeLessThanOrEqual(NEAR_BYTES + EVENT.length);
    }
  });

  it('may end in a piece at its first event and at its last one', () => {
    append(EVENT);
    expect(append(EVENT.repeat(100))).toBe(2 * EVENT.length);
    expect(log.safeEndFrom(EVENT.length + 1)).toBe(2 * EVENT.length);
    expect(log.safeEndFrom(2 * EVENT.length + 1)).toBe(101 * EVENT.length);
  });

  it('may still end where everything before is released', () => {
    append(EVENT);
    log.trim(log.end);
    expect(log.safeEndFrom(EVENT.length)).toBe(EVENT.length);
    append('data: half');
    expect(log.safeEndFrom(EVENT.length)).toBe(EVENT.length);
    log.trim(log.end);
    expect(log.safeEndFrom(log.end)).toBeUndefined();
  });

  it('knows no end that is released any more', () => {
    for (let event = 0; event < 1_000; event++) append(EVENT);
    log.trim(50_000);
    expect(log.safeEndFrom(0)).toBeGreaterThanOrEqual(50_000);
    const end = log.safeEndFrom(60_000) ?? Number.NaN;
    expect(end).toBeLessThan(60_000 + NEAR_BYTES + EVENT.length);
    log.trim(end);
    expect(log.safeEndFrom(end)).toBe(end);
  });

  it('counts what it keeps as events, until that is released', () => {
    for (let event = 0; event < 1_000; event++) append(EVENT);
    expect(held.total).toBe(0);
    log.countHeld();
    expect(held.byKind.events).toBeGreaterThan(log.end);
    expect(held.byKind.events).toBe(held.total);
    log.trim(50_000);
    expect(held.total).toBeLessThan(70_000);
    log.trim(log.end);
    expect([held.byKind.events, held.total, log.start]).toEqual([0, 0, log.end]);
  });

  it('may end nowhere, if its events are compressed', () => {
    log = new AnswerLog(held, 'events');
    append(EVENT);
    expect([0, EVENT.length].map((place) => log.safeEndFrom(place))).toEqual([
      undefined,
      undefined,
    ]);
  });

  describe('of a response that several readers wait for', () => {
    // Three quarters of it are open to new work.
    const LIMIT_BYTES = 8_000;
    beforeEach(() => {
      held = new HeldBytes(LIMIT_BYTES);
      log = new AnswerLog(held, 'answers');
    });
    const bring = (bytes: number): boolean => {
      log.append(Buffer.alloc(bytes, 'x'));
      return log.reserveArrived();
    };

    it('takes room for what comes, until that is released', () => {
      expect(bring(1_000)).toBe(true);
      expect(held.byKind.answers).toBeGreaterThanOrEqual(1_000);
      log.trim(log.end);
      expect(held.total).toBe(0);
    });

    it('has no room beyond the budget, and then holds nothing more', () => {
      expect(bring(4_500)).toBe(true);
      const before = held.total;
      expect([bring(1_500), held.total]).toEqual([false, before]);
    });
  });

  describe('for readers at different places', () => {
    /** Everything from a place on, as a reader would fetch it. */
    function readFrom(from: number): string {
      let text = '';
      for (let at = from; at < log.end;) {
        const view = log.view(at);
        text += view.toString('latin1');
        at += view.length;
      }
      return text;
    }
    const pieces = fc.array(
      fc.oneof(
        fc.string({ minLength: 1, maxLength: 40 }),
        fc.nat({ max: 9_000 }).map((length) => 'x'.repeat(length + 1)),
      ),
      { maxLength: 40 },
    );

    it('gives every byte from any place that is held, whatever is trimmed', () => {
      fc.assert(
        fc.property(pieces, fc.array(fc.nat()), (texts, places) => {
          log = new AnswerLog(held, 'answers');
          let all = '';
          for (const text of texts) {
            append(text);
            all += Buffer.from(text).toString('latin1');
            expect(log.end).toBe(all.length);
            const place = log.start + ((places.pop() ?? 0) % (log.end - log.start + 1));
            if (place < log.end) expect(readFrom(place)).toBe(all.slice(place));
            expect(log.copy(log.start, log.end).toString('latin1')).toBe(all.slice(log.start));
            if (places.length % 3 === 0) {
              log.trim(place);
              expect(log.start).toBeLessThanOrEqual(place);
            }
          }
          log.trim(log.end);
          expect([log.start, held.total]).toEqual([log.end, 0]);
        }),
      );
    });

    // 14 bytes of keep-alive, each an object of its own, filled the memory and hardly any of the budget.
    it('takes little more memory than the bytes, however small the pieces', () => {
      for (let i = 0; i < 10_000; i++) append(': keep-alive\n\n');
      log.countHeld();
      expect(held.total).toBeLessThan(log.end * 1.2);
    });
  });

  it.each([[['all']], [['a'.repeat(400), 'b'.repeat(9_000), 'c']]])(
    'is whole in one piece: %#',
    (pieces: string[]) => {
      for (const piece of pieces) append(piece);
      expect(log.whole().toString()).toBe(pieces.join(''));
      expect(log.copy(1, log.end - 1).toString()).toBe(pieces.join('').slice(1, -1));
    },
  );
});
