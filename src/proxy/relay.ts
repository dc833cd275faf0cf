import type { IncomingMessage, ServerResponse } from 'node:http';
import { awakeMs } from '../clock/awake-clock.ts';
import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../memory/held-bytes.ts';
import type { SlowClient } from '../memory/slow-clients.ts';
import { breakOff, dropClient } from '../http/break-off.ts';
import { BodyStalled } from '../upstream/connections/connection-errors.ts';
import { lastsUntilClose, unprovenEnd } from '../upstream/connections/unproven-end.ts';
import { isEventStream } from './answer-head.ts';

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
  /** Nothing is written any more: a source that was paused hands over what it has even after it is destroyed. */
  private isOver = false;
  /** Of the piece that is under way to the client. */
  private heldBytes = 0;
  private readonly stallMs: number;
  /** Events may take as long as they like; no upstream of ours answers with such, but one could come to. */
  private readonly mayBeSilent: boolean;
  /** Runs while the next piece is waited for. */
  private silenceTimer: NodeJS.Timeout | undefined;
  private waitsSinceMs = 0;

  /** `stallMs` is for how long no byte may come, in milliseconds. */
  constructor(source: IncomingMessage, response: ServerResponse, held: HeldBytes, stallMs: number) {
    this.source = source;
    this.response = response;
    this.held = held;
    this.stallMs = stallMs;
    this.mayBeSilent = isEventStream(source.headers['content-type']);
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

  shed(): void {
    this.isOver = true;
    dropClient(this.response);
  }

  private pass(chunk: Buffer): void {
    if (this.isOver) return;
    const bytes = chunk.length + PIECE_OVERHEAD_BYTES;
    this.heldBytes += bytes;
    this.source.pause();
    this.held.addSlow(this);
    this.held.hold('answers', bytes);
    // The budget may have ended this very client for it.
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
    if (this.mayBeSilent) return;
    this.waitsSinceMs = awakeMs();
    if (this.silenceTimer) this.silenceTimer.refresh();
    else this.silenceTimer = setTimeout(() => this.onSilence(), this.stallMs);
  }

  private onSilence(): void {
    // While it is paused it is the client that is waited for.
    if (this.isOver || this.source.isPaused()) return;
    if (awakeMs() - this.waitsSinceMs < this.stallMs) this.silenceTimer?.refresh();
    else this.source.destroy(new BodyStalled(this.stallMs));
  }

  private end(): void {
    if (this.isOver) return;
    const { source, response } = this;
    if (lastsUntilClose(response.req.method, source.statusCode, source.headers)) {
      const unproven = unprovenEnd(source.socket);
      if (unproven) {
        // With the error, for the observers of the response's end.
        source.destroy(unproven);
        this.breakOff();
        return;
      }
    }
    this.isOver = true;
    response.end();
  }

  private breakOff(): void {
    if (this.isOver) return;
    this.isOver = true;
    breakOff(this.response);
  }

  private onClosed(): void {
    this.isOver = true;
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
