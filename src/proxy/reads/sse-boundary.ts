/** How long an ending event stream may stay inside an event before it is broken off. */
export const STALLED_EVENT_MS = 2_000;

const LF = 0x0a;
const CR = 0x0d;
/** The part of a line that is needed to recognize the name of its event. */
const MAX_KEPT_LINE_BYTES = 64;

/**
 * Follows the bytes of an event stream and finds the places where it may end: after a whole event, or only after an
 * event named `safeEvent` if that is set.
 */
export class SseBoundary {
  private readonly safeEvent: string | undefined;
  private line = '';
  private lineIsEmpty = true;
  private afterCr = false;
  private eventName = 'message';
  private hasData = false;
  /** Whether every event that needs a safe event after it has had one. */
  private settled = true;
  private hasField = false;

  constructor(safeEvent?: string) {
    this.safeEvent = safeEvent;
  }

  /** Whether the stream may end after all bytes seen so far. */
  get isSafe(): boolean {
    return this.settled && this.lineIsEmpty && !this.hasField;
  }

  /** A copy at the same position. */
  clone(): SseBoundary {
    return Object.assign(new SseBoundary(this.safeEvent), this);
  }

  /** Processes a chunk. */
  follow(chunk: Buffer): void {
    this.scan(chunk, false);
  }

  /** Processes a chunk up to the first place where the stream may end. Returns its index, or -1. */
  firstSafeEnd(chunk: Buffer): number {
    return this.scan(chunk, true);
  }

  private scan(chunk: Buffer, stopAtSafeEnd: boolean): number {
    let nextCr = chunk.indexOf(CR);
    let i = 0;
    while (i < chunk.length) {
      if (nextCr !== -1 && nextCr < i) nextCr = chunk.indexOf(CR, i);
      const lineEnd = firstOf(chunk.indexOf(LF, i), nextCr, chunk.length);
      if (lineEnd > i) this.keepOfLine(chunk, i, lineEnd);
      if (lineEnd === chunk.length) break;
      const byte = chunk[lineEnd];
      const completesCrLf = byte === LF && this.afterCr;
      this.afterCr = byte === CR;
      i = lineEnd + 1;
      if (completesCrLf) continue;
      if (this.lineIsEmpty) this.endEvent();
      else this.endLine();
      // The line feed of a CR LF belongs to the line, if it has arrived.
      if (stopAtSafeEnd && this.isSafe) return byte === CR && chunk[i] === LF ? i + 1 : i;
    }
    return -1;
  }

  private keepOfLine(chunk: Buffer, start: number, end: number): void {
    this.lineIsEmpty = false;
    this.afterCr = false;
    const missing = MAX_KEPT_LINE_BYTES - this.line.length;
    if (missing > 0) this.line += chunk.toString('latin1', start, Math.min(end, start + missing));
  }

  private endLine(): void {
    const [field = '', ...rest] = this.line.split(':');
    const value = rest.join(':').replace(/^ /, '');
    // A comment begins with a colon and is not part of an event, so the stream may end after ": keep-alive".
    if (field !== '') this.hasField = true;
    if (field === 'event') this.eventName = value;
    else if (field === 'data') this.hasData = true;
    this.line = '';
    this.lineIsEmpty = true;
  }

  /** A blank line ends the event. Without data there is no event, and nothing changes. */
  private endEvent(): void {
    this.hasField = false;
    if (this.hasData)
      this.settled = this.safeEvent === undefined || this.eventName === this.safeEvent;
    this.hasData = false;
    this.eventName = 'message';
  }
}

/** The smaller of two indexes that were found, or `otherwise` if neither was. */
function firstOf(a: number, b: number, otherwise: number): number {
  if (a === -1) return b === -1 ? otherwise : b;
  return b === -1 ? a : Math.min(a, b);
}
