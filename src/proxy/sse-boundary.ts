const LF = 0x0a;
const CR = 0x0d;
/** More of a line than this is not needed to tell its event's name. */
const MAX_KEPT_LINE_BYTES = 64;

/**
 * Follows the bytes of an event stream and tells where it may end without harm: behind a whole event,
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
  private hasField = false;

  constructor(safeEvent?: string) {
    this.safeEvent = safeEvent;
  }

  /** Whether the stream may end after all bytes seen so far. */
  get isSafe(): boolean {
    return this.settled && this.lineIsEmpty && !this.hasField;
  }

  /** Another one at the same place. */
  clone(): SseBoundary {
    return Object.assign(new SseBoundary(this.safeEvent), this);
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
        this.lineIsEmpty = false;
        if (this.line.length < MAX_KEPT_LINE_BYTES) this.line += String.fromCharCode(byte ?? 0);
        continue;
      }
      if (this.lineIsEmpty) this.endEvent();
      else this.endLine();
      if (stopAtSafeEnd && this.isSafe) {
        // The line feed of a CR LF belongs to the line, if it is here already.
        return byte === CR && chunk[i + 1] === LF ? i + 2 : i + 1;
      }
    }
    return -1;
  }

  private endLine(): void {
    const [field = '', ...rest] = this.line.split(':');
    const value = rest.join(':').replace(/^ /, '');
    // A comment begins with a colon, and is no part of an event: a stream that sends no more than
    // ": keep-alive" and rests is not inside of one.
    if (field !== '') this.hasField = true;
    if (field === 'event') this.eventName = value;
    else if (field === 'data') this.hasData = true;
    this.line = '';
    this.lineIsEmpty = true;
  }

  /** A blank line: the event is whole. Without data it is none, and changes nothing. */
  private endEvent(): void {
    this.hasField = false;
    if (this.hasData)
      this.settled = this.safeEvent === undefined || this.eventName === this.safeEvent;
    this.hasData = false;
    this.eventName = 'message';
  }
}
