import { compactJson } from '../output/json.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';
import { styled, text, type Format, type Styled, type Text } from '../output/styled.ts';
import { contentText, eventText, stopText, type TimelineEvent } from './event-text.ts';

const SEQ_WIDTH = 4;
const KIND_WIDTH = 11;
const INDENT = ' '.repeat('2026-11-21 16:02:11'.length + SEQ_WIDTH + KIND_WIDTH + 6);

const KIND_FORMATS = new Map<unknown, Format>(
  Object.entries({
    message: 'cyan',
    reply: 'green',
    word: 'green',
    reasoning: 'dim',
    decision: 'yellow',
    status: 'yellow',
    restored: 'yellow',
    refused: 'red',
    error: 'red',
  }),
);

/**
 * Puts events into words for people, one line each: time, number, kind, text. The words of a reply share one growing line, and so do
 * the pieces of its reasoning.
 * `print` returns the text to write, which may leave a line open.
 */
export class TimelinePrinter {
  #isLineOpen = false;
  /** The kind and the message of the pieces in the latest line. */
  #line: unknown[] = [];

  /** `said` is what the turn of the event had said before it. */
  print(value: unknown, said?: string): Text {
    // Anyone with an API key may append, and not everyone appends objects.
    const isEvent = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isEvent) return `${this.endLine()}${plainLine(compactJson(value))}\n`;
    const event = value as TimelineEvent;
    // It answers a client that looks for a turn, and says nothing to anybody else.
    if (event.kind === 'located') return '';
    const isPiece = event.kind === 'word' || event.kind === 'reasoning';
    if (isPiece && typeof event.text === 'string') return this.#piece(event, event.text);
    const isAsAbove = event.kind === 'reply' && said && contentText(event.content) === said;
    const shown = isAsAbove ? asAbove(event) : indented(eventText(event).trimEnd());
    return text`${this.endLine()}${headOf(event, shown !== '')}${shown}\n`;
  }

  /** The text that ends an open line before another message. */
  endLine(): string {
    const end = this.#isLineOpen ? '\n' : '';
    this.#isLineOpen = false;
    return end;
  }

  #piece(event: TimelineEvent, piece: string): Text {
    const said = indented(piece);
    const [kind, replyTo] = this.#line;
    if (this.#isLineOpen && kind === event.kind && replyTo === event.replyTo) return said;
    const start = this.endLine();
    this.#isLineOpen = true;
    this.#line = [event.kind, event.replyTo];
    return text`${start}${headOf(event)}${said}`;
  }
}

function indented(lines: string): string {
  return lines.replaceAll('\n', `\n${INDENT}`);
}

function asAbove(event: TimelineEvent): Styled {
  const stop = stopText(event);
  return styled('dim', `(as above)${stop === undefined ? '' : ` ${plainLine(stop)}`}`);
}

/** Without spaces at its end where nothing follows. */
function headOf({ at, seq, kind }: TimelineEvent, hasText = true): Styled {
  const time = (localTime(at) ?? '').padEnd('2026-11-21 16:02:11'.length);
  const number = (typeof seq === 'number' ? String(seq) : '').padStart(SEQ_WIDTH);
  const name = plainLine(typeof kind === 'string' ? kind : '');
  if (!hasText && name === '') return styled('dim', `${time}  ${number}`.trimEnd());
  const shown = styled(KIND_FORMATS.get(kind), hasText ? name.padEnd(KIND_WIDTH) : name);
  return text`${styled('dim', `${time}  ${number}`)}  ${shown}${hasText ? '  ' : ''}`;
}
