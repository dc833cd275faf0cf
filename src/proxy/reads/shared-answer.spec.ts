import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setImmediate as turnEnd } from 'node:timers/promises';
import fc from 'fast-check';
import { fakeTime, pass } from '../../../test/support/fake-time.ts';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { BodyStalled } from '../upstream/connections/connection-errors.ts';
import type { Exchange } from '../upstream/exchange.ts';
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import { SharedAnswer, type AnswerReader } from './shared-answer.ts';
import type { ProxyCall } from './proxy-call.ts';

const KIB = 1_024;
const MIB = 1_048_576;
const EVENTS = ['Content-Type', 'text/event-stream'];
const ENCODED = [...EVENTS, 'Content-Encoding', 'gzip'];
const EVENT = 'event: control\ndata: {"offset":1}\n\n';
const LARGE_EVENT = `data: ${'x'.repeat(1_000)}\n\n${EVENT}`;
const EXPIRED = new GatewayError('token_expired', 'over');
const LOST = new GatewayError('upstream_unreachable', 'lost');

/** What an answer does with its request. */
class FakeExchange {
  isPaused = false;
  isCancelled = false;
  faults: unknown[] = [];

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  cancel(): void {
    this.isCancelled = true;
  }

  failBy(fault: unknown): void {
    this.faults.push(fault);
  }
}

/** A reader as far as its answer knows it: its client takes a piece when the test says so. */
class FakeReader implements AnswerReader {
  listIndex: number | undefined;
  writtenTo = 0;
  takenTo = 0;
  received = '';
  outcome: 'waiting' | 'open' | 'whole' | 'shed' | 'gone' | Error = 'waiting';
  /** Whether it was told to end where it can resume. */
  isEnding = false;
  droppedInMs: number | undefined;
  timedPlace: AnswerReader['timedPlace'];
  readonly call: ProxyCall;
  /** Of the pieces that are under way. */
  sending: number[] = [];
  private answer: SharedAnswer | undefined;

  private readonly held: HeldBytes;

  constructor(exchange: FakeExchange, held: HeldBytes) {
    this.held = held;
    this.call = {
      context: {},
      upstream: {
        protocol: durableStreams,
        faultOf: (fault: unknown) => new GatewayError('internal_error', String(fault)),
      },
      send: () => (this.share === 'apart' ? new FakeExchange() : exchange) as unknown as Exchange,
    } as unknown as ProxyCall;
  }

  get share(): string | undefined {
    return this.call.share;
  }

  get isSending(): boolean {
    return this.sending.length > 0;
  }

  get isFull(): boolean {
    return this.sending.length >= 2;
  }

  join(answer: SharedAnswer): void {
    this.answer = answer;
    answer.join(this);
  }

  wake(): void {
    const { answer } = this;
    if (this.outcome === 'waiting') this.outcome = 'open';
    while (answer && this.outcome === 'open' && !this.isFull) {
      const piece = answer.next(this);
      this.received += piece?.toString('latin1') ?? '';
      if (answer.isWhole(this)) this.leave('whole');
      else if (!piece) return;
      else {
        if (!answer.isEvents) this.held.addSlow(this);
        this.sending.push(piece.length);
      }
    }
  }

  /** As a `Reader` does it: its answer does not wait for its last bytes. */
  endWith(rest: Buffer): void {
    this.answer?.leave(this);
    this.answer = undefined;
    this.isEnding = true;
    this.outcome = 'open';
    this.received += rest.toString('latin1');
    if (!this.isFull) this.outcome = 'whole';
  }

  /** Its client takes the first piece that is under way. */
  take(): void {
    const bytes = this.outcome === 'open' ? this.sending.shift() : undefined;
    if (bytes === undefined) return;
    this.takenTo += bytes;
    if (!this.isSending) this.held.deleteSlow(this);
    this.answer?.onTaken(this);
    this.wake();
    if (!this.answer && !this.isFull) this.outcome = 'whole';
  }

  takeAll(): void {
    while (this.outcome === 'open' && this.isSending) this.take();
  }

  endEarly(error: Error): void {
    if (this.outcome !== 'open' || this.isEnding) return;
    this.isEnding = true;
    this.answer?.endSoon(this, error);
  }

  fail(error: Error): void {
    this.leave(error);
  }

  shed(): void {
    const { answer } = this;
    this.leave('shed');
    answer?.trim();
  }

  dropIn(timeoutMs: number): void {
    this.droppedInMs = timeoutMs;
  }

  leave(outcome: FakeReader['outcome']): void {
    if (this.outcome !== 'open' && this.outcome !== 'waiting') return;
    this.outcome = outcome;
    this.held.deleteSlow(this);
    this.answer?.leave(this);
  }
}

describe('SharedAnswer', () => {
  let held: HeldBytes;
  let exchange: FakeExchange;
  let answer: SharedAnswer;
  /** What its owner is told. */
  let told: string[];

  let joined: FakeReader[];
  /** The readers that need a request of their own. */
  const apart = (): FakeReader[] => joined.filter(({ share }) => share === 'apart');

  beforeEach(() => setUp());

  function setUp(heldBytes = 10 * MIB): void {
    held = new HeldBytes(heldBytes);
    exchange = new FakeExchange();
    told = [];
    joined = [];
    const owner = {
      closed: () => told.push('close'),
      released: () => told.push('release'),
    };
    answer = new SharedAnswer(owner, held);
  }

  function join(): FakeReader {
    const reader = new FakeReader(exchange, held);
    joined.push(reader);
    reader.join(answer);
    return reader;
  }
  /** The request of so many readers goes out. */
  function launch<Count extends number>(count: Count): FakeReader[] {
    const readers = Array.from({ length: count }, join);
    answer.launch('first');
    return readers;
  }
  /** The same, and its response begins. */
  function begin(count: number, headers: string[] = []): FakeReader[] {
    const readers = launch(count);
    answer.onHead(200, headers);
    answer.deliver();
    return readers;
  }
  const bring = (bytes: string | number): void =>
    answer.onChunk(typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.alloc(bytes, 'x'));
  /** Brings bytes, and has a turn end. */
  function send(bytes: string | number): void {
    bring(bytes);
    answer.deliver();
  }
  /** The response ends, and so does the turn. */
  function end(): void {
    answer.onEnd();
    answer.deliver();
  }
  const fail = (error = LOST, cause: unknown = new Error('reset')): void =>
    answer.onFailure({ error, reached: 'answered', isTimeout: false, cause });
  const outcomes = (readers: FakeReader[]): unknown[] => readers.map(({ outcome }) => outcome);
  const isJoinable = (): boolean => !told.includes('close');

  describe('for one reader', () => {
    it('passes the body on as it comes, and closes its group once', () => {
      const [reader] = begin(1) as [FakeReader];
      expect([reader.share, told]).toEqual(['first', ['close']]);
      send('one');
      expect([reader.received, held.byKind.answers]).toEqual(['one', expect.any(Number)]);
      reader.take();
      expect(held.total).toBe(0);
      bring('two');
      end();
      expect([reader.received, reader.outcome]).toEqual(['onetwo', 'whole']);
      expect(told).toEqual(['close', 'release']);
      expect([held.total, exchange.isCancelled]).toEqual([0, false]);
    });

    it('tells of a read that nobody shares', () => {
      const reader = join();
      answer.launch('apart');
      expect(reader.share).toBe('apart');
    });

    // A large body stopped for good, or came into memory as a whole for a client that does not read.
    it('has the upstream wait while the reader is behind, and go on when that has all', () => {
      const [reader] = begin(1) as [FakeReader];
      for (let i = 0; i < 2; i++) send(32 * KIB);
      expect([reader.isFull, exchange.isPaused, told]).toEqual([true, false, ['close']]);
      send(32 * KIB);
      // Those who wait for their turn do not wait for this client.
      expect([exchange.isPaused, told]).toEqual([true, ['close', 'release']]);
      reader.take();
      expect(exchange.isPaused).toBe(false);
    });

    it('lets go of the upstream and of what waits when the reader leaves', () => {
      const [reader] = begin(1);
      send(100 * KIB);
      reader?.leave('gone');
      expect([exchange.isCancelled, held.total]).toEqual([true, 0]);
      expect(told).toEqual(['close', 'release']);
    });

    it('counts what its client has not taken, also after its end', () => {
      const [reader] = begin(1) as [FakeReader];
      for (let i = 0; i < 3; i++) send(32 * KIB);
      end();
      expect([reader.outcome, held.byKind.answers >= 96 * KIB]).toEqual(['open', true]);
      reader.take();
      expect([reader.outcome, held.total]).toEqual(['whole', 0]);
    });

    it('is not whole when the upstream breaks off', () => {
      const [reader] = begin(1) as [FakeReader];
      send('part');
      fail();
      expect([reader.outcome, answer.isWhole(reader), held.total]).toEqual([LOST, false, 0]);
    });

    it.each([
      ['whole and empty', [], 0, '', undefined],
      ['whole and of 16 KiB', [], 16 * KIB, 'x'.repeat(16 * KIB), 16 * KIB],
      ['whole and larger', [], 16 * KIB + 1, undefined, 16 * KIB + 1],
      ['whole and of events', EVENTS, 9, undefined, undefined],
    ])(
      'that is %s goes with the head, or has its length there, or not',
      (_, headers, bytes, text, length) => {
        // Its reader has not taken anything.
        const reader = new FakeReader(exchange, held);
        reader.wake = () => undefined;
        reader.join(answer);
        answer.launch('first');
        answer.onHead(200, headers);
        if (bytes > 0) bring(bytes);
        end();
        expect([answer.wholeText, answer.wholeLength]).toEqual([text, length]);
      },
    );
  });

  describe('for several readers', () => {
    it('sends for the first, and gives each the whole body', () => {
      const readers = launch(3);
      expect(readers.map(({ share }) => share)).toEqual(['first', 'joined', 'joined']);
      answer.onHead(200, []);
      for (const text of ['one', 'two']) send(text);
      // Nobody knows yet whether they can share it.
      expect(outcomes(readers)).toEqual(['waiting', 'waiting', 'waiting']);
      end();
      expect(readers.map(({ received }) => received)).toEqual(['onetwo', 'onetwo', 'onetwo']);
      expect([outcomes(readers), held.total, apart()]).toEqual([
        ['whole', 'whole', 'whole'],
        0,
        [],
      ]);
      expect(told).toEqual(['close', 'release']);
    });

    it('ends no reader that is slower than another: all of it is there for each', () => {
      const [quick, slow] = begin(2, ['Content-Length', String(MIB)]) as [FakeReader, FakeReader];
      for (let i = 0; i < 16; i++) send(64 * KIB);
      end();
      quick.takeAll();
      // All of it is kept until the last one has it.
      expect(held.byKind.answers).toBeGreaterThanOrEqual(MIB);
      expect(outcomes([quick, slow])).toEqual(['whole', 'open']);
      slow.takeAll();
      expect([slow.outcome, slow.received.length, held.total]).toEqual(['whole', MIB, 0]);
    });

    it('goes on without those who leave, and is cancelled with the last of them', () => {
      const readers = begin(2);
      bring('one');
      readers[0]?.leave('gone');
      expect(exchange.isCancelled).toBe(false);
      readers[1]?.leave('gone');
      expect([exchange.isCancelled, held.total]).toEqual([true, 0]);
      expect(told).toEqual(['close', 'release']);
    });

    it('fails for each of them', () => {
      const readers = launch(2);
      fail();
      expect(outcomes(readers)).toEqual([LOST, LOST]);
      expect(told).toEqual(['close', 'release']);
    });

    it('takes who joins into a request that is on its way', () => {
      launch(1);
      const late = join();
      answer.onHead(200, ['Content-Length', '2']);
      send('ok');
      end();
      expect([late.share, late.received]).toEqual(['joined', 'ok']);
    });

    it('leaves a response of more than a mebibyte to the first of them', () => {
      const [first, ...others] = begin(3);
      bring(MIB);
      expect(apart()).toEqual([]);
      send(1);
      expect(apart()).toEqual(others);
      expect([first?.outcome, exchange.isCancelled]).toEqual(['open', false]);
      expect(told).toEqual(['close', 'release']);
      first?.leave('gone');
      expect([exchange.isCancelled, held.byKind.answers]).toEqual([true, 0]);
    });

    it('leaves it to another one if the one that it was sent for has gone', () => {
      const [first, ...others] = begin(3);
      first?.leave('gone');
      bring(MIB);
      send(1);
      const stays = others.filter((reader) => !apart().includes(reader));
      expect([apart().length, stays.length, exchange.isCancelled]).toEqual([1, 1, false]);
      end();
      stays[0]?.takeAll();
      expect(stays[0]?.received.length).toBe(MIB + 1);
    });

    it('collects a response of a mebibyte', () => {
      const readers = begin(2);
      bring(MIB);
      end();
      for (const reader of readers) reader.takeAll();
      expect([apart(), readers.map(({ received }) => received.length)]).toEqual([[], [MIB, MIB]]);
    });

    it('leaves a response that depends on more than its request to the one that it was sent for', () => {
      const [first, second] = begin(2, ['Vary', '*']);
      expect(apart()).toEqual([second]);
      send('mine');
      end();
      expect(first?.received).toBe('mine');
    });

    it('gives such a response to nobody if that one has gone', () => {
      const [first, second] = launch(2);
      first?.leave('gone');
      answer.onHead(200, ['Vary', '*']);
      expect([apart(), exchange.isCancelled]).toEqual([[second], true]);
    });

    it('refuses them where the budget has no room for what has come', () => {
      setUp(100_000);
      const readers = begin(2);
      bring(100_000);
      for (const { outcome } of readers) {
        expect(outcome).toMatchObject({ code: 'overloaded', reason: 'memory' });
      }
      expect([exchange.isCancelled, held.total]).toEqual([true, 0]);
    });
  });

  // Thrown into the event loop, the fault of one would end the process.
  describe('that a fault of the gateway meets', () => {
    const FAULT = new Error('a bug');

    it('fails by its request', () => {
      begin(1);
      answer.failBy(FAULT);
      expect(exchange.faults).toEqual([FAULT]);
    });

    it('fails for its readers where that is over', () => {
      const [reader] = begin(1, ['Content-Length', '3']) as [FakeReader];
      reader.sending = [0, 0];
      bring('one');
      end();
      answer.failBy(FAULT);
      expect(reader.outcome).toMatchObject({ code: 'internal_error' });
    });

    it('fails by it if it comes while a turn ends', async () => {
      const [reader] = launch(1);
      reader!.wake = () => {
        throw FAULT;
      };
      answer.onHead(200, []);
      await turnEnd();
      expect(exchange.faults).toEqual([FAULT]);
    });
  });

  describe('that is silent', () => {
    beforeEach(fakeTime);
    afterEach(() => void jest.useRealTimers());

    // A live read whose connection had died without a word was joined by every new reader: none got an event in 290 s.
    it('is so from 35 s on before its response, and from 60 s without a byte within events', async () => {
      expect(answer.isSilent).toBe(false);
      launch(1);
      await pass(34_900);
      expect(answer.isSilent).toBe(false);
      await pass(101);
      expect(answer.isSilent).toBe(true);
      answer.onHead(200, EVENTS);
      for (let time = 0; time < 2; time++) {
        await pass(59_900);
        expect(answer.isSilent).toBe(false);
        if (time === 0) bring(': keep-alive\n\n');
      }
      await pass(101);
      expect(answer.isSilent).toBe(true);
    });

    it('counts no time in which its process stood still', async () => {
      launch(1);
      jest.advanceTimersByTime(35_000);
      await pass(30_000);
      expect(answer.isSilent).toBe(false);
    });
  });

  describe('of events', () => {
    /** An event stream has begun for so many readers. */
    const stream = (count: number, headers = EVENTS): FakeReader[] => begin(count, headers);
    const stopReplay = (): void => {
      // Nobody may join any more, so that only what readers need is kept.
      held.isClosed = true;
      bring(': \n\n');
      held.isClosed = false;
    };

    it('begins for all its readers, and lets others join with everything from its beginning', () => {
      const readers = stream(2);
      expect([outcomes(readers), told]).toEqual([['open', 'open'], ['release']]);
      send(EVENT);
      const late = join();
      expect([late.share, late.outcome, late.received]).toEqual(['joined', 'open', EVENT]);
      expect(isJoinable()).toBe(true);
    });

    it('lets nobody join if it depends on more than its request', () => {
      const [first, second] = stream(2, [...EVENTS, 'Vary', '*']);
      expect([first?.outcome, apart(), isJoinable()]).toEqual(['open', [second], false]);
    });

    it('lets nobody join while the budget has no room for new work', () => {
      stream(1);
      held.isClosed = true;
      send(EVENT);
      expect(isJoinable()).toBe(false);
    });

    it('has the upstream wait while every reader is behind, and continues when one has taken all', () => {
      const [quick] = stream(2);
      for (let i = 0; i < 3; i++) send(EVENT);
      expect(exchange.isPaused).toBe(true);
      quick?.take();
      expect(exchange.isPaused).toBe(false);
    });

    it('has the upstream wait until all of several pieces are on their way', () => {
      const [alone] = stream(1);
      for (let i = 0; i < 5; i++) send(5_000);
      for (let taken = 0; taken < 2; taken++) {
        alone?.take();
        expect(exchange.isPaused).toBe(true);
      }
      alone?.take();
      expect(exchange.isPaused).toBe(false);
    });

    it('continues for a reader that had the last events before the others were told of them', () => {
      const [alone] = stream(1);
      for (let i = 0; i < 2; i++) send(EVENT);
      bring(EVENT);
      alone?.take();
      answer.deliver();
      expect([alone?.isFull, exchange.isPaused]).toEqual([true, true]);
      alone?.take();
      expect(exchange.isPaused).toBe(false);
    });

    it('wakes its readers once for the events of a turn, and at once for 64 KiB', async () => {
      const [reader] = stream(1) as [FakeReader];
      for (let i = 0; i < 2; i++) bring(EVENT);
      expect(reader.received).toBe('');
      await turnEnd();
      expect(reader.received).toBe(EVENT.repeat(2));
      reader.takeAll();
      bring(65_535);
      expect(reader.received.length).toBe(2 * EVENT.length);
      bring('x');
      expect(reader.received.length).toBe(2 * EVENT.length + 65_536);
    });

    it('is whole for each reader once that has all, and holds nothing then', () => {
      const [quick, slow] = stream(2) as [FakeReader, FakeReader];
      for (let i = 0; i < 3; i++) {
        send(EVENT);
        quick.take();
      }
      end();
      expect(outcomes([quick, slow])).toEqual(['whole', 'open']);
      slow.take();
      expect([slow.outcome, slow.received, held.total]).toEqual(['whole', EVENT.repeat(3), 0]);
    });

    it('fails for every reader with the upstream, and holds nothing then', () => {
      const readers = stream(2);
      send(EVENT);
      fail();
      expect(outcomes(readers)).toEqual([LOST, LOST]);
      expect([isJoinable(), held.total]).toEqual([false, 0]);
    });

    // Broken off, they would have had to begin again where they had been before.
    it('ends its readers where they can resume, if the upstream has only become silent', () => {
      const [inEvent, between] = stream(2) as [FakeReader, FakeReader];
      for (let i = 0; i < 2; i++) send(EVENT);
      inEvent.takeAll();
      send('data: half');
      fail(new GatewayError('upstream_invalid_response', 'silent'), new BodyStalled(90_000));
      between.takeAll();
      expect([between.outcome, between.received]).toEqual(['whole', EVENT.repeat(2)]);
      // It waits in vain for the end of its event.
      expect([inEvent.outcome, inEvent.droppedInMs]).toEqual(['open', 2_000]);
      inEvent.leave('gone');
      expect(held.total).toBe(0);
    });

    // It was let go of only when nothing at all was under way, which on a slow line never is.
    it('lets go of what its reader has taken, although there is always more under way', async () => {
      const [alone] = stream(1) as [FakeReader];
      stopReplay();
      send(LARGE_EVENT);
      for (let sent = 0; sent < 3_000; sent++) {
        send(LARGE_EVENT);
        alone.take();
        if (sent % 100 === 0) await turnEnd();
      }
      expect(alone.isSending).toBe(true);
      expect(held.total).toBeLessThan(400_000);
    });

    // It went on waiting for the one that was behind, however long that took.
    it('continues for a reader that joins while all others are behind', () => {
      stream(1);
      for (let i = 0; i < 3; i++) send(EVENT);
      expect(exchange.isPaused).toBe(true);
      const late = join();
      late.take();
      expect([exchange.isPaused, late.received]).toEqual([false, EVENT.repeat(3)]);
    });

    it('ends the upstream request with its last reader, and holds nothing then', async () => {
      setUp(10_000);
      const [first, second] = stream(2);
      for (let i = 0; i < 3; i++) send(EVENT);
      await turnEnd();
      first?.leave('gone');
      expect([exchange.isCancelled, isJoinable()]).toEqual([false, true]);
      second?.leave('gone');
      expect([exchange.isCancelled, isJoinable(), held.total]).toEqual([true, false, 0]);
      held.hold('bodies', 10_001);
      await turnEnd();
      expect(held.shedCount).toBe(0);
    });

    it('keeps for a slow reader what a quicker one that came later has taken', async () => {
      const [slow, quick] = stream(2) as [FakeReader, FakeReader];
      stopReplay();
      for (let i = 0; i < 2_000; i++) {
        send(`data: ${i}\n\n`);
        quick.takeAll();
        if (i % 100 === 0) await turnEnd();
      }
      slow.takeAll();
      expect(slow.received.endsWith('data: 1999\n\n')).toBe(true);
      expect(slow.received === quick.received).toBe(true);
    });

    // Each of 200 stopped readers had 2.4 MB of objects in its queue for 1 MiB of small events.
    it('holds the events once, however many readers do not take them', () => {
      const [quick] = stream(201);
      for (let i = 0; i < 2_000; i++) {
        send(EVENT);
        quick?.take();
      }
      expect(held.total).toBeLessThan(2_000 * EVENT.length * 1.25);
    });

    it('never ends a lone reader for being slow: the upstream waits', () => {
      const [alone] = stream(1);
      for (let i = 0; i < 2_000; i++) send(LARGE_EVENT);
      expect([alone?.outcome, exchange.isPaused]).toEqual(['open', true]);
    });

    it('ends who is furthest behind when the budget of all is spent', async () => {
      setUp(100_000);
      const [quick, slow, slower] = stream(3);
      for (let i = 0; slower?.outcome === 'open' && i < 1_000; i++) {
        send(LARGE_EVENT);
        quick?.take();
        if (i < 20) slow?.take();
        await turnEnd();
      }
      expect([slower?.outcome, slow?.outcome, quick?.outcome]).toEqual(['shed', 'open', 'open']);
      expect(held.total).toBeLessThanOrEqual(100_000);
    });

    it('lets go of what only the slowest reader needed, when that leaves', async () => {
      const [quick, slow] = stream(2);
      stopReplay();
      for (let i = 0; i < 1_000; i++) {
        send(EVENT);
        quick?.takeAll();
      }
      expect(held.total).toBeGreaterThan(900 * EVENT.length);
      slow?.leave('gone');
      await turnEnd();
      expect(held.total).toBeLessThan(100 * EVENT.length);
    });

    describe('whose reader must end', () => {
      it('ends at once, if it can resume where it is', () => {
        const [early, late] = stream(2);
        early?.endEarly(EXPIRED);
        send(EVENT);
        late?.endEarly(EXPIRED);
        expect([early?.outcome, early?.received]).toEqual(['whole', '']);
        expect([late?.outcome, late?.received]).toEqual(['whole', EVENT]);
      });

      it('ends after the event that is under way, for which it has two seconds', () => {
        const [reader, other] = stream(2);
        send('data: 1\n\n');
        reader?.endEarly(EXPIRED);
        expect([reader?.outcome, reader?.droppedInMs]).toEqual(['open', 2_000]);
        send(`${EVENT}data: 2\n\n`);
        expect([reader?.outcome, reader?.received]).toEqual(['whole', `data: 1\n\n${EVENT}`]);
        expect([other?.outcome, other?.droppedInMs]).toEqual(['open', undefined]);
      });

      it('has 30 s to take its last bytes, for which the others do not wait', () => {
        const [quick, slow] = stream(2) as [FakeReader, FakeReader];
        for (let i = 0; i < 3; i++) {
          send(EVENT);
          quick.take();
        }
        slow.endEarly(EXPIRED);
        expect([slow.outcome, slow.droppedInMs]).toEqual(['open', 30_000]);
        for (let i = 0; i < 3; i++) send(EVENT);
        quick.takeAll();
        expect(exchange.isPaused).toBe(false);
        slow.take();
        expect([slow.outcome, slow.received]).toEqual(['whole', EVENT.repeat(3)]);
        quick.leave('gone');
        expect(held.total).toBe(0);
      });

      it('is broken off if its events are compressed', () => {
        const [reader] = stream(1, ENCODED);
        send('gzip');
        reader?.endEarly(EXPIRED);
        expect([reader?.outcome, reader?.received]).toEqual([EXPIRED, 'gzip']);
      });

      it('may finish if its response is no stream of events', () => {
        const [reader] = begin(1);
        send('on');
        reader?.endEarly(EXPIRED);
        bring('e');
        end();
        expect([reader?.outcome, reader?.received]).toEqual(['whole', 'one']);
      });

      it.each([
        ['takes', 0, 'open'],
        ['does not take', 1, 'shed'],
      ] as const)('%s a mebibyte to its end and %i bytes', (_, more, outcome) => {
        const [quick, reader] = stream(2) as [FakeReader, FakeReader];
        for (let i = 0; i < 2; i++) send('data: 1\n\n');
        quick.takeAll();
        reader.endEarly(EXPIRED);
        // One event, all of which is the reader's tail, because two pieces are under way to it.
        bring(`data: ${'x'.repeat(MIB + more - 'data: \n\n'.length - EVENT.length)}\n\n`);
        bring(EVENT);
        expect(outcomes([reader, quick])).toEqual([outcome, 'open']);
        reader.takeAll();
        if (outcome === 'open')
          expect([reader.outcome, reader.received.length]).toEqual(['whole', MIB + 18]);
      });
    });

    it.each([
      ['ends where its events end', EVENTS, 'whole'],
      ['is broken off if its events are compressed', ENCODED, 'shed'],
    ])('of a reader that is a mebibyte behind another one %s', (_, headers, outcome) => {
      const [quick, slow, lessSlow] = stream(3, headers) as [FakeReader, FakeReader, FakeReader];
      let sent = '';
      while (slow.droppedInMs === undefined && slow.outcome === 'open' && sent.length < 2 * MIB) {
        send(LARGE_EVENT);
        sent += LARGE_EVENT;
        quick.takeAll();
        if (sent.length < MIB / 2) lessSlow.take();
      }
      expect(sent.length).toBeGreaterThan(MIB);
      expect(held.total).toBeLessThan(1.25 * MIB);
      slow.takeAll();
      expect([slow.outcome, slow.call.context.errorReason]).toEqual([outcome, 'slow_reader']);
      expect([lessSlow.outcome, lessSlow.isFull]).toEqual(['open', true]);
      expect([quick.outcome, quick.call.context.errorReason]).toEqual(['open', undefined]);
      expect(sent.startsWith(slow.received)).toBe(true);
      if (outcome === 'whole') expect(slow.received.endsWith(EVENT)).toBe(true);
    });

    it('gives the budget one reader after the other until that has enough, and none that reads', async () => {
      setUp(100_000);
      const [quick, slow, slower] = stream(3);
      for (let i = 0; i < 9; i++) {
        send(EVENT);
        quick?.takeAll();
        if (i < 4) slow?.take();
      }
      await turnEnd();
      held.hold('bodies', 100_001);
      await turnEnd();
      expect([slower?.outcome, slow?.outcome, quick?.outcome]).toEqual(['shed', 'shed', 'open']);
    });

    it('is nothing that the budget can end once its readers have caught up', async () => {
      setUp(10_000);
      const [alone] = stream(1);
      for (let i = 0; i < 3; i++) send(EVENT);
      alone?.takeAll();
      send(EVENT);
      alone?.takeAll();
      await turnEnd();
      held.hold('bodies', 10_001);
      await turnEnd();
      expect([held.shedCount, alone?.outcome]).toEqual([0, 'open']);
    });

    it('lets nobody join once more was sent than is kept for that', () => {
      const [reader] = stream(1);
      for (let i = 0; i < 300; i++) {
        expect(isJoinable()).toBe(i * 1_000 <= 256 * KIB);
        send(`data: ${'x'.repeat(992)}\n\n`);
        reader?.takeAll();
      }
      expect(held.total).toBe(0);
    });

    it('gives every reader what was sent, in order, from its beginning to where it may resume', () => {
      const step = fc.oneof(
        fc.record({ kind: fc.constant('send' as const), text: eventText() }),
        fc.record({
          kind: fc.constantFrom('take' as const, 'leave' as const, 'endEarly' as const),
          reader: fc.nat({ max: 5 }),
        }),
        fc.record({ kind: fc.constant('join' as const) }),
      );
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isWhole) => {
          setUp();
          const readers = stream(1);
          let sent = '';
          for (const action of steps) {
            // Without readers there is no stream.
            if (exchange.isCancelled) break;
            if (action.kind === 'send') {
              sent += action.text;
              send(action.text);
            } else if (action.kind === 'join') {
              if (isJoinable()) readers.push(join());
            } else {
              const reader = readers[action.reader % readers.length];
              if (action.kind === 'take') reader?.take();
              else if (action.kind === 'leave') reader?.leave('gone');
              else reader?.endEarly(EXPIRED);
            }
          }
          if (isWhole && !exchange.isCancelled) end();
          for (const reader of readers) reader.takeAll();
          for (const { received, outcome, isEnding } of readers) {
            expect(sent.startsWith(received)).toBe(true);
            if (outcome === 'whole' && !isEnding) expect(received).toBe(sent);
            if (outcome === 'open' && !isEnding) expect(received).toBe(sent);
            if (outcome === 'whole' && isEnding)
              expect(endsSafely(received) || (isWhole && received === sent)).toBe(true);
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
