import { compactJson } from '../output/json.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine, plainText } from '../output/plain-text.ts';
import type { Format, Style } from '../output/style.ts';
import { contentText, eventText, stopText, type TimelineEvent } from './event-text.ts';

const SEQ_WIDTH = 4;
const KIND_WIDTH = 11;
const INDENT = ' '.repeat('2026-11-21 16:02:11'.length + SEQ_WIDTH + KIND_WIDTH + 6);

const KIND_FORMATS: Record<string, Format> = {
  message: 'cyan',
  reply: 'green',
  word: 'green',
  status: 'yellow',
  refused: 'red',
  error: 'red',
};

/**
 * Prints events for people, one line each: time, number, kind, text. The words of a reply share one growing line.
 * `print` returns the text to write, which may leave a line open.
 */
export class TimelinePrinter {
  readonly #style: Style;
  #isLineOpen = false;
  /** The message to which the words of the latest line are the reply. */
  #lineReplyTo: unknown;

  constructor(style: Style) {
    this.#style = style;
  }

  /** `said` is what the turn of the event had said before it. */
  print(value: unknown, said?: string): string {
    // Anyone with an API key may append, and not everyone appends objects.
    const isEvent = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isEvent) return `${this.endLine()}${plainLine(compactJson(value))}\n`;
    const event = value as TimelineEvent;
    if (event.kind === 'word' && typeof event.text === 'string')
      return this.#word(event, event.text);
    const isAsAbove = event.kind === 'reply' && said && contentText(event.content) === said;
    const text = isAsAbove ? this.#asAbove(event) : eventText(event);
    const line = `${this.#head(event)}${text.replaceAll('\n', `\n${INDENT}`)}`;
    return `${this.endLine()}${line.trimEnd()}\n`;
  }

  /** The text that ends an open line before another message. */
  endLine(): string {
    const end = this.#isLineOpen ? '\n' : '';
    this.#isLineOpen = false;
    return end;
  }

  #word(event: TimelineEvent, word: string): string {
    const said = plainText(word).replaceAll('\n', `\n${INDENT}`);
    if (this.#isLineOpen && this.#lineReplyTo === event.replyTo) return said;
    const start = this.endLine();
    this.#isLineOpen = true;
    this.#lineReplyTo = event.replyTo;
    return `${start}${this.#head(event)}${said}`;
  }

  #asAbove(event: TimelineEvent): string {
    const stop = stopText(event);
    return this.#style('dim', `(as above)${stop === undefined ? '' : ` ${plainLine(stop)}`}`);
  }

  #head({ at, seq, kind }: TimelineEvent): string {
    const time = (localTime(at) ?? '').padEnd('2026-11-21 16:02:11'.length);
    const number = (typeof seq === 'number' ? String(seq) : '').padStart(SEQ_WIDTH);
    const name = plainLine(typeof kind === 'string' ? kind : '').padEnd(KIND_WIDTH);
    const format = typeof kind === 'string' ? KIND_FORMATS[kind] : undefined;
    const shownName = format === undefined ? name : this.#style(format, name);
    return `${this.#style('dim', `${time}  ${number}`)}  ${shownName}  `;
  }
}
