import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteLog } from './byte-log.ts';

/** Everything from a place on, as a reader would fetch it. */
function readFrom(log: ByteLog, from: number): string {
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

describe('ByteLog', () => {
  it('gives every byte from any place that is held, whatever is trimmed', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.nat()), (texts, places) => {
        const log = new ByteLog();
        let all = '';
        for (const text of texts) {
          const latin1 = Buffer.from(text, 'utf8');
          log.append(latin1);
          all += latin1.toString('latin1');
          expect(log.end).toBe(all.length);
          const place = log.start + ((places.pop() ?? 0) % (log.end - log.start + 1));
          if (place < log.end) expect(readFrom(log, place)).toBe(all.slice(place));
          expect(log.copy(log.start, log.end).toString('latin1')).toBe(all.slice(log.start));
          if (places.length % 3 === 0) {
            log.trim(place);
            expect(log.start).toBeLessThanOrEqual(place);
          }
        }
        log.trim(log.end);
        expect([log.start, log.heldBytes]).toEqual([log.end, 0]);
      }),
    );
  });

  // 14 bytes of keep-alive, each an object of its own, filled the memory and hardly any of the budget.
  it('takes little more memory than the bytes, however small the pieces', () => {
    const log = new ByteLog();
    for (let i = 0; i < 10_000; i++) log.append(Buffer.from(': keep-alive\n\n'));
    expect(log.heldBytes).toBeLessThan(log.end * 1.2);
  });
});
