import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwakeTimer } from '../../platform/clock/awake-timer.ts';
import {
  PIECE_OVERHEAD_BYTES,
  type HeldBytes,
  type SlowClient,
} from '../../platform/memory/held-bytes.ts';
import { breakOff, dropClient } from '../../platform/http/break-off.ts';
import { BodyStalled } from '../upstream/connections/connection-errors.ts';
import { lastsUntilClose, unprovenEnd } from '../upstream/connections/unproven-end.ts';
import { isEventStream } from '../headers/answer-head.ts';

/**
 * Forwards an upstream's body to the client piece by piece, each when the kernel has accepted the one before. If
 * the upstream breaks off, the client's response breaks off too and never ends as if it were whole. If the client
 * disconnects, the upstream's response is closed at once.
 */
export class Relay implements SlowClient {
  timedPlace: SlowClient['timedPlace'];
  private readonly source: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly held: HeldBytes;
  /** Nothing more is written. A paused source delivers its buffered bytes even after it is destroyed. */
  private isOver = false;
  /** The bytes of the piece in flight to the client. */
  private heldBytes = 0;
  private readonly stallMs: number;
  /** An event stream may be silent for any time. No upstream on this way sends one today. */
  private readonly mayBeSilent: boolean;
  /** The timer that runs while the next piece is awaited. */
  private silenceTimer: AwakeTimer | undefined;

  /** `stallMs` is the longest time in milliseconds without a byte. */
  constructor(source: IncomingMessage, response: ServerResponse, held: HeldBytes, stallMs: number) {
    this.source = source;
    this.response = response;
    this.held = held;
    this.stallMs = stallMs;
    this.mayBeSilent = isEventStream(source.headers['content-type']);
  }

  start(): void {
    const { source, response } = this;
    // The upstream can break off in the packet that begins its response.
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
    this.held.sent(chunk.length);
    this.response.write(chunk, (error) => {
      if (error) return;
      this.release(bytes);
      // A paused source may still deliver a piece.
      if (this.isOver || this.heldBytes > 0) return;
      this.source.resume();
      this.waitForMore();
    });
  }

  private waitForMore(): void {
    if (this.mayBeSilent) return;
    if (this.silenceTimer) this.silenceTimer.restart();
    else this.silenceTimer = new AwakeTimer(this.stallMs, () => this.onSilence());
  }

  private onSilence(): void {
    // While the source is paused, the gateway waits for the client, not for the upstream.
    if (this.isOver || this.source.isPaused()) return;
    this.source.destroy(new BodyStalled(this.stallMs));
  }

  private end(): void {
    if (this.isOver) return;
    const { source, response } = this;
    if (lastsUntilClose(response.req.method, source.statusCode, source.headers)) {
      const unproven = unprovenEnd(source.socket);
      if (unproven) {
        // The response is destroyed with the error, for the observers of its end.
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
    this.silenceTimer?.stop();
    this.release(this.heldBytes);
    this.source.destroy();
  }

  private release(bytes: number): void {
    // Closing the connection has released the rest.
    const releasedBytes = Math.min(bytes, this.heldBytes);
    this.heldBytes -= releasedBytes;
    this.held.release('answers', releasedBytes);
    if (this.heldBytes === 0) this.held.deleteSlow(this);
  }
}
