import { describe, expect, it } from '@jest/globals';
import { setImmediate as turnEnd } from 'node:timers/promises';
import fc from 'fast-check';
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
  outcome: 'open' | 'whole' | 'ended' | 'broken' = 'open';
  call = { context: {}, setShare: () => undefined };
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
    this.leave('broken');
  }

  shed(): void {
    this.leave('broken');
  }

  dropIn(): void {}

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

function newStream({ heldBytes = 10_000_000 } = {}) {
  const read = {
    call: { upstream: { protocol: durableStreams } },
    isPaused: false,
    isCancelled: false,
    pause: () => void (read.isPaused = true),
    resume: () => void (read.isPaused = false),
    cancel: () => void (read.isCancelled = true),
  };
  const head = new ReadHead(200, ['Content-Type', 'text/event-stream']);
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

  it('ends the upstream request with its last reader, and holds nothing then', () => {
    const { read, held, join, send } = newStream();
    const [first, second] = [join(), join()];
    send(EVENT);
    first?.leave('ended');
    expect(read.isCancelled).toBe(false);
    second?.leave('ended');
    expect([read.isCancelled, held.total]).toEqual([true, 0]);
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
    expect([slower?.outcome, slow?.outcome, quick?.outcome]).toEqual(['broken', 'open', 'open']);
    expect(held.total).toBeLessThanOrEqual(100_000);
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
            else if (action.kind === 'leave') reader?.leave('broken');
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
        for (const reader of readers) reader.leave('broken');
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
