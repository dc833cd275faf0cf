import type { GatewayError } from '../../errors/gateway-error.ts';
import { overloaded } from '../../limits/open-read-limits.ts';
import { safeEventOf, SseBoundary } from '../sse-boundary.ts';
import type { ReadHead } from './read-head.ts';
import type { Reader, ReadSource } from './reader.ts';
import type { ReplayBudget } from './replay-budget.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

/** How far behind the fastest reader another one may fall, in bytes, before its stream is ended. */
const MAX_BEHIND_BYTES = 1_048_576;

/**
 * An event stream of the upstream and its readers. It goes at the pace of the fastest: one that falls
 * far behind is ended where it can resume, so that it neither holds up others nor fills the memory.
 *
 * A reader that comes later gets all that was sent so far, as long as the replay buffer holds that.
 */
export class EventStream implements ReadObserver, ReadSource {
  private readonly read: UpstreamRead;
  private readonly head: ReadHead;
  private readonly readers = new Set<Reader>();
  /** None where the events are compressed, and so cannot be told apart. */
  private readonly boundary: SseBoundary | undefined;
  private readonly replayBudget: ReplayBudget;
  private readonly onUnjoinable: () => void;
  /** All that was sent so far; none once that is more than a later reader may be given. */
  private replay: Buffer[] | undefined;
  private replayBytes = 0;
  private isOver = false;
  /** How many readers are behind. */
  private behind = 0;

  /** `onUnjoinable` is called once, when later readers cannot be given what was sent so far. */
  constructor(
    read: UpstreamRead,
    head: ReadHead,
    replayBudget: ReplayBudget,
    onUnjoinable: () => void,
  ) {
    this.read = read;
    this.head = head;
    this.replayBudget = replayBudget;
    this.onUnjoinable = onUnjoinable;
    this.replay = [];
    if (!head.isEncoded) this.boundary = new SseBoundary(safeEventOf(read.call.upstream));
  }

  /** Takes a reader in, who gets the stream from its beginning. */
  join(reader: Reader): void {
    reader.source = this;
    this.readers.add(reader);
    reader.begin(this.head, this.boundary);
    for (const chunk of this.replay ?? []) reader.write(chunk);
    this.pace();
  }

  onHead(): void {
    // It came before this was made.
  }

  onChunk(chunk: Buffer): void {
    this.keepForReplay(chunk);
    const before = this.hasEndingReader() ? this.boundary?.clone() : undefined;
    this.boundary?.follow(chunk);
    const safeEnd = before ? before.firstSafeEnd(chunk) : -1;
    for (const reader of this.readers) {
      if (reader.isEnding && safeEnd !== -1) {
        reader.write(chunk.subarray(0, safeEnd));
        reader.endHere();
      } else {
        reader.write(chunk);
        if (reader.isBehind) this.endIfSlow(reader);
      }
    }
  }

  onEnd(): void {
    this.finish();
    for (const reader of this.readers) reader.end();
  }

  onFailure(error: GatewayError): void {
    this.finish();
    for (const reader of this.readers) reader.fail(error);
  }

  leave(reader: Reader): void {
    this.readers.delete(reader);
    if (reader.isBehind) this.behind--;
    if (this.readers.size === 0) {
      this.finish();
      this.read.cancel();
    } else {
      this.pace();
    }
  }

  onBehind(): void {
    this.behind++;
    this.pace();
  }

  onDrained(): void {
    this.behind--;
    this.pace();
  }

  /** The upstream waits while every reader is behind, and for none that has joined since. */
  private pace(): void {
    if (this.behind === this.readers.size) this.read.pause();
    else this.read.resume();
  }

  /** A lone reader is never too slow: the upstream waits for it. */
  private endIfSlow(reader: Reader): void {
    if (this.readers.size === 1 || reader.bytesBehind <= MAX_BEHIND_BYTES) return;
    const tooSlow = overloaded('slow_reader', 'This reader is too slow for its event stream');
    // Its answer has begun, so that no error can tell.
    reader.call.context.errorReason = 'slow_reader';
    if (reader.bytesBehind > 2 * MAX_BEHIND_BYTES) reader.fail(tooSlow);
    else reader.endEarly(tooSlow);
  }

  private hasEndingReader(): boolean {
    for (const reader of this.readers) if (reader.isEnding) return true;
    return false;
  }

  private keepForReplay(chunk: Buffer): void {
    if (!this.replay) return;
    if (this.replayBudget.take(this.replayBytes, chunk.length)) {
      this.replay.push(chunk);
      this.replayBytes += chunk.length;
    } else {
      this.stopReplay();
    }
  }

  /** Lets nobody join any more. */
  stopReplay(): void {
    if (!this.replay) return;
    this.replay = undefined;
    this.replayBudget.giveBack(this.replayBytes);
    this.replayBytes = 0;
    this.onUnjoinable();
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stopReplay();
  }
}
