import { byId, element } from './element.ts';
import { eventText, json, plain, traceOf, type Event } from './event-text.ts';
import { copyButton } from './notice.ts';
import { plainText } from './plain-text.ts';
import { Roving } from './roving.ts';
import { duration, timeElement } from './times.ts';
import { VirtualList } from './virtual-list.ts';

interface RawEvent {
  key: string;
  event: Event;
  /** The time of the event before it. */
  beforeAt: string | undefined;
}

const LINE_PX = 30;
const LONGEST_LINE = 300;
const LONGEST_KIND = 64;

/** Every event in one line, which opens to the event as it is. */
export class EventsView {
  readonly #list: VirtualList<RawEvent>;
  readonly #roving: Roving;
  readonly #kind = byId<HTMLSelectElement>('event-kind');
  readonly #open = new Set<string>();
  #events: RawEvent[] = [];
  #shown: RawEvent[] = [];

  constructor(scroller: HTMLElement) {
    const list = byId('events');
    this.#list = new VirtualList<RawEvent>({
      scroller,
      list,
      keyOf: ({ key }) => key,
      estimatePx: LINE_PX,
      render: (raw) => this.#newLine(raw),
      update: (line, raw, index) => {
        this.#fill(line, raw);
        this.#roving.update(line, raw.key, index);
      },
    });
    this.#roving = new Roving(list, this.#list, '.line', () => this.#shown.map(({ key }) => key));
    this.#kind.addEventListener('input', () => this.#filter());
    byId<HTMLFormElement>('event-jump').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#jump(byId<HTMLInputElement>('event-seq').value);
    });
  }

  get isAtEnd(): boolean {
    return this.#list.isAtEnd;
  }

  get count(): number {
    return this.#events.length;
  }

  add(events: readonly Event[]): void {
    for (const event of events) {
      const beforeAt = this.#events.at(-1)?.event.at;
      const raw = { key: String(this.#events.length), event, beforeAt };
      this.#events.push(raw);
      if (this.#matches(raw)) this.#shown.push(raw);
    }
    this.#offerKinds();
    this.#list.show(this.#shown);
  }

  clear(): void {
    this.#events = [];
    this.#shown = [];
    this.#open.clear();
    this.#kind.length = 1;
    this.#list.clear();
  }

  scrollToEnd(): void {
    this.#list.scrollToEnd();
  }

  #matches({ event }: RawEvent): boolean {
    return this.#kind.value === '' || kindOf(event) === this.#kind.value;
  }

  #filter(): void {
    this.#shown = this.#events.filter((raw) => this.#matches(raw));
    this.#list.show(this.#shown);
  }

  #offerKinds(): void {
    const offered = new Set([...this.#kind.options].map(({ value }) => value));
    for (const kind of new Set(this.#events.map(({ event }) => kindOf(event)))) {
      if (!offered.has(kind)) this.#kind.add(new Option(kind, kind));
    }
  }

  /** Goes to the event of this number, or to the next one that is shown. */
  #jump(seq: string): void {
    const place = this.#shown.findIndex(({ event }) => Number(event.seq) >= Number(seq));
    const raw = this.#shown[place];
    if (!raw || seq === '') return;
    this.#open.add(raw.key);
    this.#roving.focus(raw.key);
  }

  #newLine(raw: RawEvent): HTMLElement {
    const { event, beforeAt, key } = raw;
    const { seq, at } = event;
    const kind = kindOf(event);
    const since = duration(beforeAt, at);
    const line = element(
      'button',
      { type: 'button', className: 'line' },
      element('span', { className: 'seq' }, seqOf(event)),
      timeElement(at),
      element('span', { className: 'took' }, since === '' ? '' : `+${since}`),
      element('b', {}, kind),
      element('span', { className: 'said' }, eventText(event).slice(0, LONGEST_LINE)),
    );
    line.addEventListener('click', () => {
      if (!this.#open.delete(key)) this.#open.add(key);
      this.#list.redraw();
    });
    const dataset = { testid: 'event', seq: plain(seq), kind };
    return element('li', { className: 'raw', dataset }, line);
  }

  #fill(item: HTMLElement, { key, event }: RawEvent): void {
    const isOpen = this.#open.has(key);
    item.firstElementChild?.setAttribute('aria-expanded', String(isOpen));
    if (isOpen === item.children.length > 1) return;
    if (isOpen) item.append(detail(event));
    else item.lastElementChild?.remove();
  }
}

/** Anyone with a key may write any JSON for a kind. */
function kindOf({ kind }: Event): string {
  return plain(kind).slice(0, LONGEST_KIND);
}

function seqOf({ seq }: Event): string {
  return plain(seq ?? '–').slice(0, LONGEST_KIND);
}

function detail(event: Event): HTMLElement {
  const whole = json(event, 2);
  const { requestId } = event;
  const trace = traceOf(event);
  return element(
    'div',
    { className: 'detail' },
    element(
      'p',
      { className: 'head' },
      copyButton('Copy event', whole),
      ...(typeof requestId === 'string' ? [copyButton('Copy request', requestId)] : []),
      ...(trace === undefined ? [] : [copyButton('Copy trace', trace)]),
    ),
    element('pre', { tabIndex: 0 }, plainText(whole)),
  );
}
