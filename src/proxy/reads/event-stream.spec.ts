import { describe, expect, it } from '@jest/globals';
import { setImmediate as turnEnd } from 'node:timers/promises';
import fc from 'fast-check';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { EventStream } from './event-stream.ts';
import { ReadHead } from './read-head.ts';
import type { Reader } from './reader.ts';
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import type { UpstreamRead } from './upstream-read.ts';

/** A reader as far as an event stream knows it: its client takes a piece when the test says so. */
class FakeReader {
  /** Of the pieces that are under way. */
  sending: number[] = [];
  isEnding = false;
  writtenTo = 0;
  takenTo = 0;
  received = '';
  outcome: 'open' | 'whole' | 'ended' | 'failed' | 'shed' | 'gone' = 'open';
  droppedInMs: number | undefined;
  call = { context: {} as { errorReason?: string }, setShare: () => undefined };
  private readonly stream: EventStream;

  constructor(stream: EventStream) {
    this.stream = stream;
  }

  get isSending(): boolean {
    return this.sending.length > 0;
  }

  get isFull(): boolean {
    return this.sending.length >= 2;
  }

  get self(): Reader {
    return this as unknown as Reader;
  }

  begin(): void {
    this.sendNext();
  }

  wake(): void {
    this.sendNext();
  }

  /** Its client takes the first piece that is under way. */
  take(): void {
    if (this.outcome !== 'open') return;
    const bytes = this.sending.shift();
    if (bytes === undefined) return;
    this.stream.onTaken(this.self, bytes);
    this.sendNext();
  }

  endSoon(): void {
    if (this.isEnding || this.outcome !== 'open') return;
    this.isEnding = true;
    this.stream.endSoon(this.self, new Error('expired'));
  }

  endWith(tail: Buffer | undefined): void {
    this.received += tail?.toString() ?? '';
    this.leave('ended');
  }

  fail(): void {
    this.leave('failed');
  }

  shed(): void {
    this.leave('shed');
  }

  dropIn(timeoutMs: number): void {
    this.droppedInMs = timeoutMs;
  }

  leave(outcome: FakeReader['outcome']): void {
    if (this.outcome !== 'open') return;
    this.outcome = outcome;
    this.stream.leave(this.self);
  }

  private sendNext(): void {
    while (this.outcome === 'open' && !this.isFull) {
      const piece = this.stream.next(this.self);
      this.received += piece?.toString() ?? '';
      if (this.stream.isWhole(this.self)) this.leave('whole');
      else if (!piece) return;
      else this.sending.push(piece.length);
    }
  }
}

function newStream({ heldBytes = 10_000_000, isEncoded = false } = {}) {
  const read = {
    call: { upstream: { protocol: durableStreams } },
    isPaused: false,
    isCancelled: false,
    pause: () => void (read.isPaused = true),
    resume: () => void (read.isPaused = false),
    cancel: () => void (read.isCancelled = true),
  };
  const head = new ReadHead(200, [
    'Content-Type',
    'text/event-stream',
    ...(isEncoded ? ['Content-Encoding', 'gzip'] : []),
  ]);
  const held = new HeldBytes(heldBytes);
  let isJoinable = true;
  const stream = new EventStream(read as unknown as UpstreamRead, head, held, {
    close: () => void (isJoinable = false),
  });
  const join = (): FakeReader => {
    const reader = new FakeReader(stream);
    stream.join(reader.self);
    return reader;
  };
  const send = (text: string): void => {
    stream.onChunk(Buffer.from(text));
    stream.deliver();
  };
  return { read, stream, held, join, send, isJoinable: () => isJoinable };
}

const EVENT = 'event: control\ndata: {"offset":1}\n\n';
const MIB = 1_048_576;

describe('EventStream', () => {
  it('has the upstream wait while every reader is behind, and continues when one has taken all', () => {
    const { read, join, send } = newStream();
    const [quick] = [join(), join()];
    for (let i = 0; i < 3; i++) send(EVENT);
    expect(read.isPaused).toBe(true);
    quick?.take();
    expect(read.isPaused).toBe(false);
  });

  it('has the upstream wait until all of several pieces are on their way', () => {
    const { read, join, send } = newStream();
    const alone = join();
    for (let i = 0; i < 5; i++) send('x'.repeat(5_000));
    for (let taken = 0; taken < 2; taken++) {
      alone.take();
      expect(read.isPaused).toBe(true);
    }
    alone.take();
    expect(read.isPaused).toBe(false);
  });

  it('continues for a reader that had the last events before the others were told of them', () => {
    const { read, stream, join, send } = newStream();
    const alone = join();
    for (let i = 0; i < 2; i++) send(EVENT);
    stream.onChunk(Buffer.from(EVENT));
    alone.take();
    stream.deliver();
    expect([alone.isFull, read.isPaused]).toEqual([true, true]);
    alone.take();
    expect(read.isPaused).toBe(false);
  });

  it('wakes its readers once for the events of a turn, and at once for 64 KiB', async () => {
    const { stream, join } = newStream();
    const reader = join();
    stream.onChunk(Buffer.from(EVENT));
    stream.onChunk(Buffer.from(EVENT));
    expect(reader.received).toBe('');
    await turnEnd();
    expect([reader.received, reader.sending.length]).toEqual([EVENT.repeat(2), 2]);
    for (const _ of EVENT.repeat(2)) reader.take();
    stream.onChunk(Buffer.alloc(65_535, 'x'));
    expect(reader.received.length).toBe(2 * EVENT.length);
    stream.onChunk(Buffer.from('x'));
    expect(reader.received.length).toBe(2 * EVENT.length + 65_536);
  });

  it('is whole for each reader once that has all, and holds nothing then', () => {
    const { stream, held, join, send } = newStream();
    const [quick, slow] = [join(), join()];
    for (let i = 0; i < 3; i++) {
      send(EVENT);
      quick?.take();
    }
    stream.onEnd();
    expect([quick?.outcome, slow?.outcome]).toEqual(['whole', 'open']);
    slow?.take();
    expect([slow?.outcome, slow?.received, held.total]).toEqual(['whole', EVENT.repeat(3), 0]);
  });

  it('fails for every reader with the upstream, and holds nothing then', () => {
    const { stream, held, join, send, isJoinable } = newStream();
    const readers = [join(), join()];
    send(EVENT);
    stream.onFailure(new GatewayError('upstream_unreachable', 'lost'));
    expect(readers.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    expect([isJoinable(), held.total]).toEqual([false, 0]);
  });

  // It was let go of only when nothing at all was under way, which on a slow line never is.
  it('lets go of what its reader has taken, although there is always more under way', async () => {
    const { stream, held, join, send } = newStream();
    const alone = join();
    stream.stopReplay();
    const event = `data: ${'x'.repeat(1_000)}\n\n${EVENT}`;
    send(event);
    for (let sent = 0; sent < 3_000; sent++) {
      send(event);
      alone.take();
      if (sent % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(alone.isSending).toBe(true);
    expect(held.total).toBeLessThan(400_000);
  });

  // It went on waiting for the one that was behind, however long that took.
  it('continues for a reader that joins while all others are behind', () => {
    const { read, join, send } = newStream();
    join();
    for (let i = 0; i < 3; i++) send(EVENT);
    expect(read.isPaused).toBe(true);
    const late = join();
    late.take();
    expect([read.isPaused, late.received]).toEqual([false, EVENT.repeat(3)]);
  });

  it('ends the upstream request with its last reader, and holds nothing then', async () => {
    const { read, held, join, send, isJoinable } = newStream({ heldBytes: 10_000 });
    const [first, second] = [join(), join()];
    for (let i = 0; i < 3; i++) send(EVENT);
    await turnEnd();
    first?.leave('gone');
    expect([read.isCancelled, isJoinable()]).toEqual([false, true]);
    second?.leave('gone');
    expect([read.isCancelled, isJoinable(), held.total]).toEqual([true, false, 0]);
    held.hold('bodies', 10_001);
    await turnEnd();
    expect(held.shedCount).toBe(0);
  });

  it('keeps for a slow reader what a quicker one that came later has taken', async () => {
    const { stream, join, send } = newStream();
    const [slow, quick] = [join(), join()];
    stream.stopReplay();
    let sent = '';
    for (let i = 0; i < 2_000; i++) {
      send(`data: ${i}\n\n`);
      sent += `data: ${i}\n\n`;
      quick?.take();
      if (i % 100 === 0) await turnEnd();
    }
    for (let i = 0; i < 100; i++) slow?.take();
    expect([slow?.received === sent, quick?.received === sent]).toEqual([true, true]);
  });

  // Each of 200 stopped readers had 2.4 MB of objects in its queue for 1 MiB of small events.
  it('holds the events once, however many readers do not take them', () => {
    const { held, join, send } = newStream();
    const quick = join();
    for (let i = 0; i < 200; i++) join();
    for (let i = 0; i < 2_000; i++) {
      send(EVENT);
      quick.take();
    }
    expect(held.total).toBeLessThan(2_000 * EVENT.length * 1.25);
  });

  it('ends a reader that is a mebibyte behind another one, where it can resume', () => {
    const { held, join, send } = newStream();
    const [quick, slow] = [join(), join()];
    const event = `data: ${'x'.repeat(1_000)}\n\n${EVENT}`;
    let sent = '';
    while (slow?.outcome === 'open' && sent.length < 2 * MIB) {
      send(event);
      sent += event;
      quick?.take();
    }
    expect([slow?.outcome, quick?.outcome]).toEqual(['ended', 'open']);
    expect(sent.startsWith(slow?.received ?? '-')).toBe(true);
    expect(slow?.received.endsWith(EVENT)).toBe(true);
    expect(sent.length).toBeGreaterThan(MIB);
    expect(held.total).toBeLessThan(MIB);
  });

  it('never ends a lone reader for being slow: the upstream waits', () => {
    const { read, join, send } = newStream();
    const alone = join();
    for (let i = 0; i < 2_000; i++) send(`data: ${'x'.repeat(1_000)}\n\n`);
    expect([alone.outcome, read.isPaused]).toEqual(['open', true]);
  });

  it('ends who is furthest behind when the budget of all is spent', async () => {
    const { held, join, send } = newStream({ heldBytes: 100_000 });
    const [quick, slow, slower] = [join(), join(), join()];
    for (let i = 0; slower?.outcome === 'open' && i < 1_000; i++) {
      send(`data: ${'x'.repeat(1_000)}\n\n`);
      quick?.take();
      if (i < 20) slow?.take();
      await turnEnd();
    }
    expect([slower?.outcome, slow?.outcome, quick?.outcome]).toEqual(['shed', 'open', 'open']);
    expect(held.total).toBeLessThanOrEqual(100_000);
  });

  it('lets go of what only the slowest reader needed, when that leaves', async () => {
    const { held, join, stream, send } = newStream();
    const [quick, slow] = [join(), join()];
    stream.stopReplay();
    for (let i = 0; i < 1_000; i++) {
      send(EVENT);
      quick?.take();
    }
    expect(held.total).toBeGreaterThan(900 * EVENT.length);
    slow?.leave('gone');
    await turnEnd();
    expect(held.total).toBeLessThan(100 * EVENT.length);
  });

  describe('whose reader must end', () => {
    it('ends at once, if it can resume where it is', () => {
      const { join, send } = newStream();
      const [early, late] = [join(), join()];
      early?.endSoon();
      send(EVENT);
      late?.endSoon();
      expect([early?.outcome, early?.received]).toEqual(['ended', '']);
      expect([late?.outcome, late?.received]).toEqual(['ended', EVENT]);
    });

    it('ends after the event that is under way, for which it has two seconds', () => {
      const { join, send } = newStream();
      const [reader, other] = [join(), join()];
      send('data: 1\n\n');
      reader?.endSoon();
      expect([reader?.outcome, reader?.droppedInMs]).toEqual(['open', 2_000]);
      send(`${EVENT}data: 2\n\n`);
      expect([reader?.outcome, reader?.received]).toEqual(['ended', `data: 1\n\n${EVENT}`]);
      expect([other?.outcome, other?.droppedInMs]).toEqual(['open', undefined]);
    });

    it('is broken off if its events are compressed', () => {
      const { join, send } = newStream({ isEncoded: true });
      const reader = join();
      send('gzip');
      reader.endSoon();
      expect([reader.outcome, reader.received]).toEqual(['failed', 'gzip']);
    });

    it.each([
      ['takes', 0, 'ended'],
      ['does not take', 1, 'shed'],
    ] as const)('%s a mebibyte to its end and %i bytes', (_, more, outcome) => {
      const { stream, join, send } = newStream();
      const [quick, reader] = [join(), join()];
      for (let i = 0; i < 2; i++) send('data: 1\n\n');
      quick?.take();
      quick?.take();
      reader?.endSoon();
      // One event, all of which is the reader's tail, because two pieces are under way to it.
      const event = `data: ${'x'.repeat(MIB + more - 'data: \n\n'.length - EVENT.length)}\n\n`;
      stream.onChunk(Buffer.from(event));
      stream.onChunk(Buffer.from(EVENT));
      expect([reader?.outcome, quick?.outcome]).toEqual([outcome, 'open']);
    });
  });

  it.each([
    ['ends where its events end', false, 'ended'],
    ['is broken off if its events are compressed', true, 'shed'],
  ] as const)('of a reader that is too slow %s', (_, isEncoded, outcome) => {
    const { join, send } = newStream({ isEncoded });
    const [quick, slow, lessSlow] = [join(), join(), join()];
    const event = `data: ${'x'.repeat(1_000)}\n\n${EVENT}`;
    for (let sent = 0; slow?.outcome === 'open' && sent < 2 * MIB; sent += event.length) {
      send(event);
      quick?.take();
      if (sent < MIB / 2) lessSlow?.take();
    }
    expect([lessSlow?.outcome, lessSlow?.isFull]).toEqual(['open', true]);
    expect([slow?.outcome, slow?.call.context.errorReason]).toEqual([outcome, 'slow_reader']);
    expect([quick?.outcome, quick?.call.context.errorReason]).toEqual(['open', undefined]);
  });

  it('gives the budget one reader after the other until that has enough, and none that reads', async () => {
    const { held, join, send } = newStream({ heldBytes: 100_000 });
    const [quick, slow, slower] = [join(), join(), join()];
    for (let i = 0; i < 9; i++) {
      send(EVENT);
      quick?.take();
      if (i < 4) slow?.take();
    }
    await turnEnd();
    held.hold('bodies', 100_001);
    await turnEnd();
    expect([slower?.outcome, slow?.outcome, quick?.outcome]).toEqual(['shed', 'shed', 'open']);
  });

  it('is nothing that the budget can end once its readers have caught up', async () => {
    const { held, join, send } = newStream({ heldBytes: 10_000 });
    const alone = join();
    for (let i = 0; i < 3; i++) send(EVENT);
    for (let i = 0; i < 3; i++) alone.take();
    send(EVENT);
    await turnEnd();
    held.hold('bodies', 10_001);
    await turnEnd();
    expect([held.shedCount, alone.outcome]).toEqual([0, 'open']);
  });

  it('sheds those that are furthest behind, and those that read not at all', () => {
    const { stream, join, send } = newStream();
    const [quick, slow, slower, slowest] = [join(), join(), join(), join()];
    for (let i = 0; i < 9; i++) {
      send(EVENT);
      quick?.take();
      if (i < 4) slow?.take();
      if (i < 2) slower?.take();
      if (i < 2) slowest?.take();
    }
    const outcomes = () => [quick, slow, slower, slowest].map((reader) => reader?.outcome);
    stream.shed();
    expect(outcomes()).toEqual(['open', 'open', 'shed', 'shed']);
    stream.shed();
    expect(outcomes()).toEqual(['open', 'shed', 'shed', 'shed']);
    stream.shed();
    expect(quick?.outcome).toBe('open');
  });

  it('lets nobody join once more was sent than is kept for that', () => {
    const { held, join, send, isJoinable } = newStream();
    const reader = join();
    for (let i = 0; i < 300; i++) {
      expect(isJoinable()).toBe(i * 1_000 <= 262_144);
      send(`data: ${'x'.repeat(992)}\n\n`);
      reader.take();
    }
    expect(held.total).toBe(0);
  });

  it('gives every reader what was sent, in order, from its beginning to where it may resume', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('send' as const), text: eventText() }),
      fc.record({
        kind: fc.constantFrom('take' as const, 'leave' as const, 'endSoon' as const),
        reader: fc.nat({ max: 5 }),
      }),
      fc.record({ kind: fc.constant('join' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isWhole) => {
        const { stream, held, join, send, isJoinable } = newStream();
        const readers = [join()];
        let sent = '';
        for (const action of steps) {
          if (action.kind === 'send') {
            // Without readers there is no stream.
            if (!readers.some(({ outcome }) => outcome === 'open')) break;
            sent += action.text;
            send(action.text);
          } else if (action.kind === 'join') {
            if (isJoinable() && readers.some(({ outcome }) => outcome === 'open')) {
              readers.push(join());
            }
          } else {
            const reader = readers[action.reader % readers.length];
            if (action.kind === 'take') reader?.take();
            else if (action.kind === 'leave') reader?.leave('gone');
            else reader?.endSoon();
          }
        }
        if (isWhole) stream.onEnd();
        for (let i = 0; i < 200; i++) for (const reader of readers) reader.take();
        for (const { received, outcome, isEnding } of readers) {
          expect(sent.startsWith(received)).toBe(true);
          if (outcome === 'ended') expect(endsSafely(received)).toBe(true);
          if (outcome === 'whole' || (outcome === 'open' && !isEnding)) expect(received).toBe(sent);
          // One that waits for a safe end has not passed any.
          if (outcome === 'open' && isEnding) expect(endsSafely(received)).toBe(false);
        }
        for (const reader of readers) reader.leave('gone');
        expect(held.total).toBe(0);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Pieces of events, cut anywhere. */
function eventText(): fc.Arbitrary<string> {
  const whole = fc.constantFrom(
    EVENT,
    'data: a\n\n',
    ': keep-alive\n\n',
    `data: ${'y'.repeat(700)}\n\n${EVENT}`,
    `data: ${'z'.repeat(20_000)}\r\n\r\n${EVENT}`,
  );
  return fc
    .tuple(whole, fc.nat())
    .map(([text, at]) => text.slice(at % text.length))
    .filter((text) => text !== '');
}

/** On the history store a reader can resume behind a control event, and behind comments that follow it. */
function endsSafely(text: string): boolean {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.pop() !== '') return false;
  let isControl = true;
  let fields: string[] = [];
  for (const line of lines) {
    if (line === '') {
      if (fields.some((field) => /^data(?::|$)/.test(field))) {
        isControl = fields.findLast((field) => field.startsWith('event:')) === 'event: control';
      }
      fields = [];
    } else if (!line.startsWith(':')) fields.push(line);
  }
  return isControl && fields.length === 0;
}
