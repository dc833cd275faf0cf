/** How long an ending event stream may stay inside an event before it is broken off. */
export const STALLED_EVENT_MS = 2_000;

const LF = 0x0a;
const CR = 0x0d;
/** The part of a line that is needed to recognize the name of its event. */
const MAX_KEPT_LINE_BYTES = 64;

/** The places in a chunk where the stream may end, as the number of bytes before each. */
export interface SafeEnds {
  first: number;
  last: number;
}

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

  /** Processes a chunk. Undefined if the stream may end nowhere in it. */
  follow(chunk: Buffer): SafeEnds | undefined {
    let ends: SafeEnds | undefined;
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
      if (!completesCrLf) {
        if (this.lineIsEmpty) this.endEvent();
        else this.endLine();
      }
      if (!this.isSafe) continue;
      // The line feed of a CR LF belongs to the line, if it has arrived.
      const end = byte === CR && chunk[i] === LF ? i + 1 : i;
      if (ends) ends.last = end;
      else ends = { first: end, last: end };
    }
    return ends;
  }

  /** Whether the stream may end after all bytes seen so far. */
  private get isSafe(): boolean {
    return this.settled && this.lineIsEmpty && !this.hasField;
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
