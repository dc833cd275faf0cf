const LF = 0x0a;
const CR = 0x0d;
/** More of a line than this is not needed to tell its event's name. */
const MAX_KEPT_LINE_BYTES = 64;

/**
 * Follows the bytes of an event stream and tells where it may end without harm: after a whole event,
 * and, where `safeEvent` names one, after an event of that name only. On Durable Streams that is
 * `control`, which carries the offset to resume from: an end between data and its control event
 * would bring the data twice (PROTOCOL.md, "Server-sent events").
 */
export class SseBoundary {
  private readonly safeEvent: string | undefined;
  private line = '';
  private lineIsEmpty = true;
  private afterCr = false;
  private eventName = 'message';
  private hasData = false;
  /** Whether no event that needs a safe one behind it is outstanding. */
  private settled = true;
  private insideEvent = false;

  constructor(safeEvent?: string) {
    this.safeEvent = safeEvent;
  }

  /** Whether the stream may end after all bytes seen so far. */
  get isSafe(): boolean {
    return this.settled && !this.insideEvent;
  }

  /** Follows a chunk. */
  follow(chunk: Uint8Array): void {
    this.scan(chunk, false);
  }

  /** Follows a chunk up to the first place where the stream may end: its index, or -1. */
  firstSafeEnd(chunk: Uint8Array): number {
    return this.scan(chunk, true);
  }

  private scan(chunk: Uint8Array, stopAtSafeEnd: boolean): number {
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      const completesCrLf = byte === LF && this.afterCr;
      this.afterCr = byte === CR;
      if (completesCrLf) continue;
      if (byte !== LF && byte !== CR) {
        this.insideEvent = true;
        this.lineIsEmpty = false;
        if (this.line.length < MAX_KEPT_LINE_BYTES) this.line += String.fromCharCode(byte ?? 0);
        continue;
      }
      if (!this.lineIsEmpty) {
        this.endLine();
        continue;
      }
      this.endEvent();
      if (stopAtSafeEnd && this.settled) {
        // The line feed of a CR LF belongs to the blank line, if it is here already.
        return byte === CR && chunk[i + 1] === LF ? i + 2 : i + 1;
      }
    }
    return -1;
  }

  private endLine(): void {
    const [field = '', ...rest] = this.line.split(':');
    const value = rest.join(':').replace(/^ /, '');
    if (field === 'event') this.eventName = value;
    else if (field === 'data') this.hasData = true;
    this.line = '';
    this.lineIsEmpty = true;
  }

  /** A blank line: the event is whole. A block of mere comments is none, and changes nothing. */
  private endEvent(): void {
    this.insideEvent = false;
    if (this.hasData)
      this.settled = this.safeEvent === undefined || this.eventName === this.safeEvent;
    this.hasData = false;
    this.eventName = 'message';
  }
}
