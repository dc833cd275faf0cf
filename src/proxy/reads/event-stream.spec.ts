import { describe, expect, it } from '@jest/globals';
import { EventStream } from './event-stream.ts';
import { ReadHead } from './read-head.ts';
import type { Reader } from './reader.ts';
import { ReplayBudget } from './replay-budget.ts';
import type { UpstreamRead } from './upstream-read.ts';

/** As far as an event stream knows its readers: one that takes things, or does not. */
class FakeReader {
  source: EventStream | undefined;
  isBehind = false;
  isEnding = false;
  bytesBehind = 0;
  received = '';

  begin(): void {}

  write(chunk: Buffer): void {
    this.received += chunk.toString();
  }

  fallBehind(): void {
    this.isBehind = true;
    this.source?.onBehind();
  }

  catchUp(): void {
    this.isBehind = false;
    this.source?.onDrained();
  }
}

function newStream() {
  const read = {
    call: { upstream: { name: 'history' } },
    isPaused: false,
    isCancelled: false,
    pause: () => void (read.isPaused = true),
    resume: () => void (read.isPaused = false),
    cancel: () => void (read.isCancelled = true),
  };
  const head = new ReadHead(200, ['Content-Type', 'text/event-stream']);
  const budget = new ReplayBudget(1_000, 1_000);
  const upstreamRead = read as unknown as UpstreamRead;
  const stream = new EventStream(upstreamRead, head, budget, () => undefined);
  const join = (): FakeReader => {
    const reader = new FakeReader();
    stream.join(reader as unknown as Reader);
    return reader;
  };
  const leave = (reader: FakeReader): void => stream.leave(reader as unknown as Reader);
  return { read, stream, join, leave };
}

describe('EventStream', () => {
  it('has the upstream wait while every reader is behind', () => {
    const { read, join } = newStream();
    const [a, b] = [join(), join()];
    a.fallBehind();
    expect(read.isPaused).toBe(false);
    b.fallBehind();
    expect(read.isPaused).toBe(true);
    a.catchUp();
    expect(read.isPaused).toBe(false);
  });

  // It went on waiting for the one that was behind, however long that took.
  it('goes on for a reader that joins while all others are behind', () => {
    const { read, stream, join } = newStream();
    stream.onChunk(Buffer.from('data: 1\n\n'));
    join().fallBehind();
    expect(read.isPaused).toBe(true);
    const late = join();
    expect([read.isPaused, late.received]).toEqual([false, 'data: 1\n\n']);
  });

  it('waits again when those leave who were not behind', () => {
    const { read, join, leave } = newStream();
    const [slow, quick] = [join(), join()];
    slow.fallBehind();
    leave(quick);
    expect([read.isPaused, read.isCancelled]).toEqual([true, false]);
    leave(slow);
    expect(read.isCancelled).toBe(true);
  });
});
