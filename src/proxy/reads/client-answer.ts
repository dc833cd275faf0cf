import type { ServerResponse } from 'node:http';
import { breakOff, dropClient } from '../../platform/http/break-off.ts';
import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { ownHeaders, type RequestContext } from '../../platform/server/request-context.ts';
import type { AnswerRules } from '../headers/response-headers.ts';
import type { ReadHead } from '../headers/read-head.ts';

/** The most pieces, and about the most bytes, that are in flight to a client. */
const MAX_PIECES = 4;
const MAX_BYTES = 65_536;

/** The response to one reader's client, and how many bytes of it the kernel has not accepted yet. */
export class ClientAnswer {
  isHeadSent = false;
  private readonly response: ServerResponse;
  private readonly context: RequestContext;
  private readonly rules: AnswerRules;
  readonly held: HeldBytes;
  private pieces = 0;
  private bytes = 0;

  constructor(
    response: ServerResponse,
    context: RequestContext,
    rules: AnswerRules,
    held: HeldBytes,
  ) {
    this.response = response;
    this.context = context;
    this.rules = rules;
    this.held = held;
  }

  /** Whether the client has disconnected. */
  get isDestroyed(): boolean {
    return this.response.destroyed;
  }

  /** Whether it has bytes that the kernel has not accepted yet. */
  get isSending(): boolean {
    return this.pieces > 0;
  }

  /** Whether so many bytes are in flight that no more may be written for now. */
  get isFull(): boolean {
    return this.pieces >= MAX_PIECES || this.bytes >= MAX_BYTES;
  }

  /** `bodyLength` is the length of a complete body. Throws `upstream_invalid_response` if the head cannot be sent. */
  sendHead(head: ReadHead, bodyLength: number | undefined): void {
    const own = ownHeaders(this.context);
    // Otherwise an nginx in front would buffer the events.
    if (head.isEventStream) own.push('X-Accel-Buffering', 'no');
    const list = own.concat(head.headersFor(this.rules));
    if (bodyLength !== undefined && !head.hasLength) {
      list.push('Content-Length', String(bodyLength));
    }
    // It goes out with the first piece of the body. Setting each header costs twice as much.
    this.response.writeHead(head.statusCode, list);
    this.isHeadSent = true;
  }

  /**
   * Sends the head now, because no piece of the body has arrived that could go with it: a parked event stream has headers
   * long before its first byte. `flushHeaders` would write them as UTF-8: header values are bytes, which Node represents as
   * latin1.
   */
  flushHead(): void {
    this.response.write('', 'latin1');
  }

  /** Writes a piece. `onTaken` is called when the kernel has accepted it. */
  write(piece: Buffer, onTaken: (bytes: number) => void): void {
    const bytes = piece.length;
    this.pieces++;
    this.bytes += bytes;
    this.held.sent(bytes);
    this.response.write(piece, (error) => {
      if (error) return;
      this.pieces--;
      this.bytes -= bytes;
      onTaken(bytes);
    });
  }

  /**
   * Ends with the last piece, if there is one. A string is latin1. Returns whether the kernel has accepted everything, as
   * it does for nearly every client that reads.
   */
  end(lastPiece: Buffer | string | undefined): boolean {
    this.held.sent(lastPiece?.length ?? 0);
    if (lastPiece === undefined) this.response.end();
    else this.response.end(lastPiece, 'latin1');
    return this.response.writableLength === 0;
  }

  /** Breaks off a response that has begun, so that its client cannot take the part for the whole. */
  breakOff(): void {
    breakOff(this.response);
  }

  /** Disconnects the client. */
  drop(): void {
    dropClient(this.response);
  }
}
