import { element } from './element.js';
import { eventText } from './event-text.js';
import { Sequence } from './sequence.js';

/** More would make the page slow; the newest are the ones that are watched. */
const MAX_SHOWN = 2_000;
const NEAR_END_PX = 80;
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
/** Kinds that are also said to a screen reader; every word would be too much. */
const ANNOUNCED = new Set(['reply', 'error', 'rejected', 'interrupted']);

/**
 * The timeline as a list. The words of a reply share one line, which grows as they come; every event
 * has an element with its `data-seq`, in the order of arrival.
 */
export class TimelineView {
  #list = document.getElementById('timeline');
  #scroll = document.getElementById('timeline-scroll');
  #empty = document.getElementById('timeline-empty');
  #newest = document.getElementById('newest');
  #announcer = document.getElementById('announcer');
  #sequence = new Sequence();
  /** The line that takes the next word, if one does. */
  #wordLine;

  constructor() {
    this.#newest.addEventListener('click', () => this.#toEnd());
    this.#scroll.addEventListener('scroll', () => {
      if (this.#isAtEnd()) this.#newest.hidden = true;
    });
  }

  /** Begins anew, for another agent. */
  clear(note) {
    this.#list.replaceChildren();
    this.#sequence = new Sequence();
    this.#wordLine = undefined;
    this.#newest.hidden = true;
    this.#announcer.textContent = '';
    this.note(note);
  }

  /** Said in place of events, as long as there are none. */
  note(text) {
    this.#empty.textContent = text;
    this.#empty.hidden = this.#list.hasChildNodes();
  }

  append(events) {
    if (events.length === 0) return;
    const follows = this.#isAtEnd();
    // Anyone with an API key may append, and not everyone appends objects.
    for (const event of events) this.#add(Object(event) === event ? event : { value: event });
    while (this.#list.children.length > MAX_SHOWN) this.#list.firstChild.remove();
    this.#empty.hidden = true;
    if (follows) this.#toEnd();
    else this.#newest.hidden = false;
  }

  #add(event) {
    const verdict = Number.isInteger(event.seq)
      ? this.#sequence.judge(event.seq)
      : { kind: 'next' };
    if (verdict.kind === 'gap') this.#addGap(verdict);
    if (event.kind === 'word' && verdict.kind === 'next' && this.#continues(event)) {
      this.#addWord(event);
    } else {
      this.#addLine(event, verdict.kind === 'repeat');
    }
    if (ANNOUNCED.has(event.kind)) this.#announcer.textContent = plainText(event);
  }

  #addGap({ from, to }) {
    const which = from === to ? `event ${from} is` : `events ${from} to ${to} are`;
    const text = `Gap: ${which} missing`;
    this.#wordLine = undefined;
    this.#list.append(element('li', { className: 'gap', dataset: { testid: 'gap' } }, text));
    this.#announcer.textContent = text;
  }

  #addLine(event, isRepeat) {
    const { seq, at } = event;
    const kind = String(event.kind ?? '–');
    const isWord = kind === 'word' && !isRepeat;
    const text = element('div', { className: 'text' });
    const line = element(
      'li',
      { className: 'event', dataset: { testid: 'event', kind } },
      element('span', { className: 'seq' }, String(seq ?? '–')),
      element('span', { className: 'kind' }, kind),
      timeElement(at),
      text,
    );
    if (isRepeat) {
      line.classList.add('repeat');
      line.append(
        element(
          'span',
          { className: 'mark', dataset: { testid: 'repeat' } },
          'out of order or repeated',
        ),
      );
    }
    this.#wordLine = isWord ? { line, text, replyTo: event.replyTo, firstSeq: seq } : undefined;
    if (isWord) {
      text.append(wordElement(event));
    } else {
      line.dataset.seq = String(seq ?? '');
      text.append(eventText(event) ?? '');
    }
    this.#list.append(line);
  }

  #continues({ replyTo }) {
    return this.#wordLine !== undefined && this.#wordLine.replyTo === replyTo;
  }

  #addWord(event) {
    const { line, text, firstSeq } = this.#wordLine;
    text.append(' ', wordElement(event));
    line.querySelector('.seq').textContent = `${firstSeq}–${event.seq}`;
    line.querySelector('time').replaceWith(timeElement(event.at));
  }

  #isAtEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroll;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }

  #toEnd() {
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#newest.hidden = true;
  }
}

function wordElement({ seq, text }) {
  return element('span', { dataset: { testid: 'word', seq: String(seq) } }, String(text));
}

function timeElement(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return element('time', {}, '–');
  const clock = CLOCK.format(time);
  return element('time', { dateTime: String(at), title: time.toLocaleString() }, clock);
}

function plainText(event) {
  const text = eventText(event);
  return `${event.kind}: ${text instanceof Node ? text.textContent : (text ?? '')}`;
}
