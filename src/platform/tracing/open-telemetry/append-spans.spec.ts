import { describe, expect, it } from '@jest/globals';
import { AppendSpans } from './append-spans.ts';

const spanOf = (index: number) => ({
  traceId: 'a'.repeat(32),
  spanId: index.toString(16).padStart(16, '0'),
  traceFlags: 1,
});

describe('AppendSpans', () => {
  it('has those in progress, and those that ended at the time or later', () => {
    const appends = new AppendSpans();
    for (const index of [1, 2]) appends.began('/streams/x', spanOf(index));
    appends.ended('/streams/x', spanOf(1), true);
    expect(appends.since('/streams/x', 0)).toEqual([spanOf(1), spanOf(2)]);
    expect(appends.since('/streams/x', performance.now() + 1)).toEqual([spanOf(2)]);
    expect(appends.since('/streams/y', 0)).toEqual([]);
  });

  it('forgets what was not stored', () => {
    const appends = new AppendSpans();
    appends.began('/streams/x', spanOf(1));
    appends.ended('/streams/x', spanOf(1), false);
    appends.ended('/streams/never', spanOf(1), true);
    expect(appends.since('/streams/x', 0)).toEqual([]);
  });

  // Whoever may append chooses the paths: without these bounds the map would grow for good.
  it('has eight of a stream, a thousand streams, and none with a path of over 512 characters', () => {
    const appends = new AppendSpans();
    for (let index = 0; index < 10; index++) appends.began('/streams/x', spanOf(index));
    expect(appends.since('/streams/x', 0)).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map(spanOf));
    for (let index = 0; index < 1_000; index++) appends.began(`/streams/${index}`, spanOf(index));
    expect(appends.since('/streams/x', 0)).toEqual([]);
    expect(appends.since('/streams/0', 0)).toEqual([spanOf(0)]);
    const long = `/streams/${'x'.repeat(512)}`;
    appends.began(long, spanOf(1));
    expect(appends.since(long, 0)).toEqual([]);
  });
});
