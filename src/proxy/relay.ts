import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { awakeMs } from '../clock/awake-clock.ts';
import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../limits/held-bytes.ts';
import type { SlowClient } from '../limits/slow-clients.ts';
import { breakOff, dropClient } from '../request/break-off.ts';
import { isEncoded, isEventStream } from './answer-head.ts';
import { SseBoundary, STALLED_EVENT_MS } from './reads/sse-boundary.ts';

export interface RelayOptions {
  /** For how long no byte may come, in milliseconds; streams of events may be silent. */
  stallMs: number;
  /** The event after which an event stream may end; see `SseBoundary`. */
  safeEvent?: string | undefined;
}

/**
 * Passes an upstream's body on to the client as it comes, one piece at a time, the next when the kernel has taken the
 * last. A body that the upstream breaks off is broken off toward the client, never ended as if it were whole; a client
 * that goes away ends the upstream's answer at once.
 */
export class Relay implements SlowClient {
  slowPlace: SlowClient['slowPlace'];
  private readonly source: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly held: HeldBytes;
  private readonly isEventStream: boolean;
  /** None where the events are compressed, and so cannot be told apart. */
  private readonly boundary: SseBoundary | undefined;
  private isEnding = false;
  /** Nothing is written any more: a source that was paused hands over what it has even after it is destroyed. */
  private isOver = false;
  /** Of the piece that is under way to the client. */
  private heldBytes = 0;
  private stallTimer: NodeJS.Timeout | undefined;
  private readonly stallMs: number;
  /** Runs while the next piece is waited for, but for events, which may take as long as they like. */
  private silenceTimer: NodeJS.Timeout | undefined;
  private waitsSinceMs = 0;

  constructor(
    source: IncomingMessage,
    response: ServerResponse,
    held: HeldBytes,
    { stallMs, safeEvent }: RelayOptions,
  ) {
    this.source = source;
    this.response = response;
    this.held = held;
    this.stallMs = stallMs;
    this.isEventStream = isEventStream(source.headers['content-type']);
    if (this.isEventStream && !isEncoded(source.headers['content-encoding'])) {
      this.boundary = new SseBoundary(safeEvent);
    }
  }

  start(): void {
    const { source, response } = this;
    // The upstream can have broken off in the very packet that began its answer.
    if (source.destroyed) {
      breakOff(response);
      return;
    }
    source.on('data', (chunk: Buffer) => this.pass(chunk));
    source.once('end', () => this.end());
    source.on('error', () => this.breakOff());
    source.once('close', () => {
      if (!source.readableEnded) this.breakOff();
    });
    response.once('close', () => this.onClosed());
    this.waitForMore();
  }

  /**
   * Ends an event stream where its reader can resume, or breaks it off if that place does not come.
   * Any other body under way is finite and is left to finish.
   */
  endAtBoundary(): void {
    if (!this.isEventStream || this.isEnding || this.isOver) return;
    this.isEnding = true;
    if (!this.boundary) this.breakOff();
    else if (this.boundary.isSafe) this.finish();
    else this.stallTimer = setTimeout(() => this.breakOff(), STALLED_EVENT_MS);
  }

  shed(): void {
    this.isOver = true;
    dropClient(this.response);
  }

  private pass(chunk: Buffer): void {
    if (this.isOver) return;
    if (this.isEnding && this.boundary) {
      const end = this.boundary.firstSafeEnd(chunk);
      if (end !== -1) {
        this.write(chunk.subarray(0, end));
        this.finish();
        return;
      }
    } else {
      this.boundary?.follow(chunk);
    }
    this.write(chunk);
  }

  private write(chunk: Buffer): void {
    const bytes = chunk.length + PIECE_OVERHEAD_BYTES;
    this.heldBytes += bytes;
    this.source.pause();
    this.held.addSlow(this);
    this.held.hold('answers', bytes);
    if (this.isOver) return;
    this.held.sent(chunk.length);
    this.response.write(chunk, (error) => {
      if (error) return;
      this.release(bytes);
      // A source that is paused may still have handed over a piece.
      if (this.isOver || this.heldBytes > 0) return;
      this.source.resume();
      this.waitForMore();
    });
  }

  private waitForMore(): void {
    if (this.isEventStream) return;
    this.waitsSinceMs = awakeMs();
    if (this.silenceTimer) this.silenceTimer.refresh();
    else this.silenceTimer = setTimeout(() => this.onSilence(), this.stallMs);
  }

  private onSilence(): void {
    // While it is paused it is the client that is waited for.
    if (this.isOver || this.source.isPaused()) return;
    if (awakeMs() - this.waitsSinceMs < this.stallMs) this.silenceTimer?.refresh();
    else this.source.destroy(new Error(`no byte of the answer came for ${this.stallMs} ms`));
  }

  private end(): void {
    if (this.isOver) return;
    if (isEndUnproven(this.source, this.response)) {
      this.breakOff();
      return;
    }
    this.isOver = true;
    this.response.end();
  }

  private finish(): void {
    this.end();
    this.source.destroy();
  }

  private breakOff(): void {
    if (this.isOver) return;
    this.isOver = true;
    breakOff(this.response);
  }

  private onClosed(): void {
    this.isOver = true;
    clearTimeout(this.stallTimer);
    clearTimeout(this.silenceTimer);
    this.release(this.heldBytes);
    this.source.destroy();
  }

  private release(bytes: number): void {
    // The rest was released when the connection closed.
    const releasedBytes = Math.min(bytes, this.heldBytes);
    this.heldBytes -= releasedBytes;
    this.held.release('answers', releasedBytes);
    if (this.heldBytes === 0) this.held.deleteSlow(this);
  }
}

/** Only the end of the connection tells the end of the body, and over TLS anybody on the way can make one. */
function isEndUnproven(
  { socket, headers, statusCode }: IncomingMessage,
  { req }: ServerResponse,
): boolean {
  const hasLength =
    headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const hasNoBody = req.method === 'HEAD' || statusCode === 204 || statusCode === 304;
  return socket instanceof TLSSocket && !hasLength && !hasNoBody;
}
