import type { IncomingMessage, ServerResponse } from 'node:http';
import { breakOff } from '../request/break-off.ts';
import { isEncoded, isEventStream } from './answer-head.ts';
import { SseBoundary, STALLED_EVENT_MS } from './sse-boundary.ts';

/**
 * Passes an upstream's body on to the client as it comes, with backpressure. A body that the
 * upstream breaks off is broken off toward the client, never ended as if it were whole; a client
 * that goes away ends the upstream's answer at once.
 */
export class Relay {
  private readonly source: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly isEventStream: boolean;
  /** None where the events are compressed, and so cannot be told apart. */
  private readonly boundary: SseBoundary | undefined;
  private isEnding = false;
  private stallTimer: NodeJS.Timeout | undefined;

  /** `safeEvent` is the event after which an event stream may end; see `SseBoundary`. */
  constructor(source: IncomingMessage, response: ServerResponse, safeEvent?: string) {
    this.source = source;
    this.response = response;
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
    source.once('end', () => response.end());
    source.once('error', () => breakOff(response));
    source.once('close', () => {
      if (!source.readableEnded && !response.writableEnded) breakOff(response);
    });
    response.on('drain', () => source.resume());
    response.once('close', () => {
      clearTimeout(this.stallTimer);
      source.destroy();
    });
  }

  /**
   * Ends an event stream where its reader can resume, or breaks it off if that place does not come.
   * Any other body under way is finite and is left to finish.
   */
  endAtBoundary(): void {
    if (!this.isEventStream || this.isEnding || this.response.writableEnded) return;
    this.isEnding = true;
    if (!this.boundary) breakOff(this.response);
    else if (this.boundary.isSafe) this.finish();
    else this.stallTimer = setTimeout(() => breakOff(this.response), STALLED_EVENT_MS);
  }

  private pass(chunk: Buffer): void {
    if (this.isEnding && this.boundary) {
      const end = this.boundary.firstSafeEnd(chunk);
      if (end !== -1) {
        this.response.write(chunk.subarray(0, end));
        this.finish();
        return;
      }
    } else {
      this.boundary?.follow(chunk);
    }
    if (!this.response.write(chunk)) this.source.pause();
  }

  private finish(): void {
    this.response.end();
    this.source.destroy();
  }
}
