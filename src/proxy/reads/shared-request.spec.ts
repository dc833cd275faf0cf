import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { durableStreams } from '../upstream/protocols/durable-streams.ts';
import type { BodySource } from './body-source.ts';
import type { ReadGroup } from './read-group.ts';
import { ReadHead } from './read-head.ts';
import type { Reader } from './reader.ts';
import type { ReadSharing } from './read-sharing.ts';
import { SharedRequest } from './shared-request.ts';
import type { ReadCall } from './read-call.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

const KIB = 1_024;
const MIB = 1_048_576;
const LOST = new GatewayError('upstream_unreachable', 'lost');

/** A reader that takes the pieces of its source when the test says so. */
class FakeReader {
  readonly call = {
    context: {},
    upstream: { protocol: durableStreams },
    setShare: (share: string) => void (this.share = share),
  } as ReadCall;
  place: Reader['place'];
  source: BodySource | undefined;
  share: string | undefined;
  received = '';
  outcome: 'waiting' | 'begun' | 'whole' | 'gone' | Error = 'waiting';
  isAwaitingHead = false;
  isReady = false;
  isSending = false;
  isFull = false;

  get self(): Reader {
    return this as unknown as Reader;
  }

  awaitHead(): void {
    this.isAwaitingHead = true;
  }

  onHead(): void {
    this.isAwaitingHead = false;
  }

  begin(_: ReadHead, source: BodySource): void {
    this.place = this.source = source;
    this.outcome = 'begun';
  }

  answer(_: ReadHead, body: Buffer | string | undefined, shared: { leave(): void }): void {
    this.received = body?.toString() ?? '';
    this.outcome = 'whole';
    shared.leave();
  }

  wake(): void {}

  /** Writes all that its source has, as the reader of a quick client does. */
  take(): number {
    let bytes = 0;
    for (let piece = this.source?.next(this.self); piece; piece = this.source?.next(this.self)) {
      bytes += piece.length;
      this.received += piece.toString();
    }
    if (this.source?.isWhole(this.self)) {
      this.outcome = 'whole';
      this.source.leave(this.self);
    } else this.source?.onTaken(this.self, bytes);
    return bytes;
  }

  write(piece: Buffer): void {
    this.received += piece.toString();
  }

  fail(error: Error): void {
    this.outcome = error;
    this.place?.leave(this.self);
  }

  leave(): void {
    this.outcome = 'gone';
    this.place?.leave(this.self);
  }
}

describe('SharedRequest', () => {
  let held: HeldBytes;
  let alone: FakeReader[];
  let told: string[];
  let read: {
    isPaused: boolean;
    isCancelled: boolean;
    isOver: boolean;
    observer: ReadObserver;
    call: unknown;
    start(): void;
    pause(): void;
    resume(): void;
    cancel(): void;
  };
  let request: SharedRequest;

  beforeEach(() => {
    held = new HeldBytes(10 * MIB);
    alone = [];
    told = [];
    const sharing: ReadSharing = {
      held,
      prepare: (call: ReadCall, observer: ReadObserver): UpstreamRead => {
        read = {
          isPaused: false,
          isCancelled: false,
          isOver: false,
          observer,
          call,
          start: () => told.push('start'),
          pause: () => void (read.isPaused = true),
          resume: () => void (read.isPaused = false),
          cancel: () => void (read.isCancelled ||= !read.isOver),
        };
        return read as unknown as UpstreamRead;
      },
      sendAlone: (reader: FakeReader) => {
        alone.push(reader);
        new SharedRequest(sharing).join(reader.self);
      },
    } as unknown as ReadSharing;
    const group = {
      // Nobody can join it after the first, so the group ignores the others.
      close: () => void (told.includes('close') || told.push('close')),
      release: () => told.push('release'),
      offer: () => true,
    } as unknown as ReadGroup;
    request = new SharedRequest(sharing, group);
  });

  function launch(count: number): FakeReader[] {
    const readers = Array.from({ length: count }, () => new FakeReader());
    for (const reader of readers) request.join(reader.self);
    request.launch('first');
    return readers;
  }
  function end(): void {
    read.isOver = true;
    read.observer.onEnd();
  }
  const head = (...headers: string[]): ReadHead => new ReadHead(200, headers);

  describe('for one reader', () => {
    it('passes the body on as it comes, and closes its group once', () => {
      const [reader] = launch(1);
      read.observer.onHead(head());
      expect(told).toEqual(['start', 'close']);
      read.observer.onChunk(Buffer.from('one'));
      reader?.take();
      read.observer.onChunk(Buffer.from('two'));
      end();
      reader?.take();
      expect([reader?.received, reader?.outcome]).toEqual(['onetwo', 'whole']);
      expect(told).toEqual(['start', 'close', 'release']);
      expect([held.total, read.isCancelled]).toEqual([0, false]);
    });

    it('writes a piece at once while the reader is ready and nothing waits', () => {
      const [reader] = launch(1);
      read.observer.onHead(head());
      if (reader) reader.isReady = true;
      read.observer.onChunk(Buffer.from('at once'));
      expect([reader?.received, held.total]).toEqual(['at once', 7]);
      if (reader) reader.isReady = false;
      read.observer.onChunk(Buffer.from(', later'));
      if (reader) reader.isReady = true;
      read.observer.onChunk(Buffer.from(', last'));
      expect(reader?.received).toBe('at once');
      reader?.source?.onTaken(reader.self, 7);
      reader?.take();
      expect([reader?.received, held.total]).toEqual(['at once, later, last', 0]);
    });

    // A large body stopped for good, or came into memory as a whole for a client that does not read.
    it('has the upstream wait from 64 KiB on, and go on when the client has read', () => {
      const [reader] = launch(1);
      read.observer.onHead(head());
      read.observer.onChunk(Buffer.alloc(63 * KIB));
      expect([read.isPaused, told.includes('release')]).toEqual([false, false]);
      read.observer.onChunk(Buffer.alloc(KIB));
      // Those who wait for their turn do not wait for this client.
      expect([read.isPaused, told.includes('release')]).toEqual([true, true]);
      reader?.take();
      expect(read.isPaused).toBe(false);
    });

    it('lets go of the upstream and of what waits when the reader leaves', () => {
      const [reader] = launch(1);
      read.observer.onHead(head());
      read.observer.onChunk(Buffer.alloc(100 * KIB));
      reader?.leave();
      expect([read.isCancelled, held.total]).toEqual([true, 0]);
      expect(told).toEqual(['start', 'close', 'release']);
    });

    it('does not cancel a response that has come whole', () => {
      const [reader] = launch(1);
      read.observer.onHead(head());
      read.observer.onChunk(Buffer.alloc(KIB));
      end();
      reader?.leave();
      expect([read.isCancelled, held.total]).toEqual([false, 0]);
    });

    it('is not whole when the upstream breaks off', () => {
      const [reader] = launch(1);
      read.observer.onHead(head());
      read.observer.onFailure(LOST);
      expect([reader?.outcome, reader?.source?.isWhole(reader.self)]).toEqual([LOST, false]);
    });
  });

  describe('for several readers', () => {
    it('sends for the first, and gives each the whole body', () => {
      const readers = launch(3);
      expect(readers.map(({ share }) => share)).toEqual(['first', 'joined', 'joined']);
      expect(readers.map(({ isAwaitingHead }) => isAwaitingHead)).toEqual([true, true, true]);
      read.observer.onHead(head());
      expect(readers.map(({ isAwaitingHead }) => isAwaitingHead)).toEqual([false, false, false]);
      read.observer.onChunk(Buffer.from('one'));
      read.observer.onChunk(Buffer.from('two'));
      expect(readers.map(({ outcome }) => outcome)).toEqual(['waiting', 'waiting', 'waiting']);
      end();
      expect(readers.map(({ received }) => received)).toEqual(['onetwo', 'onetwo', 'onetwo']);
      expect([held.total, alone]).toEqual([0, []]);
      expect(told).toEqual(['start', 'close', 'release']);
    });

    it('goes on without those who leave, and is cancelled with the last of them', () => {
      const readers = launch(2);
      read.observer.onHead(head());
      read.observer.onChunk(Buffer.from('one'));
      readers[0]?.leave();
      expect(read.isCancelled).toBe(false);
      readers[1]?.leave();
      expect([read.isCancelled, held.total]).toEqual([true, 0]);
      expect(told).toEqual(['start', 'close', 'release']);
    });

    it('fails for each of them', () => {
      const readers = launch(2);
      read.observer.onFailure(LOST);
      expect(readers.map(({ outcome }) => outcome)).toEqual([LOST, LOST]);
      expect(told).toEqual(['start', 'close', 'release']);
    });

    it.each([
      ['declares', () => read.observer.onHead(head('Content-Length', String(MIB + 1)))],
      [
        'brings',
        () => {
          read.observer.onHead(head());
          read.observer.onChunk(Buffer.alloc(MIB));
          expect(alone).toEqual([]);
          read.observer.onChunk(Buffer.alloc(1));
        },
      ],
    ])('leaves a response that %s more than a mebibyte to the first of them', (_, come) => {
      const [first, ...others] = launch(3);
      come();
      expect(alone).toEqual(others);
      expect(others.map(({ isAwaitingHead }) => isAwaitingHead)).toEqual([true, true]);
      expect([first?.outcome, read.isCancelled]).toEqual(['begun', false]);
      first?.leave();
      expect([read.isCancelled, held.total]).toEqual([true, 0]);
    });

    it('collects a response of a mebibyte', () => {
      const readers = launch(2);
      read.observer.onHead(head('Content-Length', String(MIB)));
      read.observer.onChunk(Buffer.alloc(MIB));
      end();
      expect([alone, readers.map(({ received }) => received.length)]).toEqual([[], [MIB, MIB]]);
    });

    it('leaves a response that depends on its reader to the one that it was sent for', () => {
      const [first, second] = launch(2);
      read.observer.onHead(head('Vary', 'User-Agent'));
      expect(alone).toEqual([second]);
      read.observer.onChunk(Buffer.from('mine'));
      end();
      first?.take();
      expect(first?.received).toBe('mine');
    });

    it('gives such a response to nobody if that one has gone', () => {
      const [first, second] = launch(2);
      first?.leave();
      read.observer.onHead(head('Vary', 'User-Agent'));
      expect([alone, read.isCancelled]).toEqual([[second], true]);
    });

    it('refuses them where the budget has no room for the body', () => {
      held.hold('bodies', 9 * MIB);
      const readers = launch(2);
      read.observer.onHead(head('Content-Length', '100000'));
      for (const { outcome } of readers) {
        expect(outcome).toMatchObject({ code: 'overloaded', reason: 'memory' });
      }
      expect(read.isCancelled).toBe(true);
    });
  });

  it('hands an event stream over with all its readers', () => {
    const readers = launch(2);
    read.observer.onHead(head('Content-Type', 'text/event-stream'));
    expect(readers.map(({ outcome }) => outcome)).toEqual(['begun', 'begun']);
    expect(read.observer).not.toBe(request);
    expect(readers.map(({ source }) => source)).toEqual([read.observer, read.observer]);
    expect(told).toEqual(['start', 'release']);
  });
});
