import type { TimelineEvent } from './conversation.ts';
import { byId, element } from './element.ts';
import { duration, timeElement } from './times.ts';
import { VirtualList } from './virtual-list.ts';

interface RawEvent {
  key: string;
  event: TimelineEvent;
  /** The time of the event before it. */
  beforeAt: string | undefined;
}

const COPIED_MS = 1_500;

/** Shows every event unchanged. */
export class EventsView {
  readonly #list: VirtualList<RawEvent>;
  #events: RawEvent[] = [];

  constructor(scroller: HTMLElement) {
    this.#list = new VirtualList<RawEvent>({
      scroller,
      list: byId('events'),
      keyOf: ({ key }) => key,
      estimatePx: 96,
      render: (raw) => line(raw),
      update: () => undefined,
    });
  }

  get isAtEnd(): boolean {
    return this.#list.isAtEnd;
  }

  add(events: readonly TimelineEvent[]): void {
    for (const event of events) {
      const beforeAt = this.#events.at(-1)?.event.at;
      this.#events.push({ key: String(this.#events.length), event, beforeAt });
    }
    this.#list.show(this.#events);
  }

  /** Draws again, for example after the list was hidden. */
  redraw(): void {
    this.#list.show(this.#events);
  }

  clear(): void {
    this.#events = [];
    this.#list.clear();
  }

  scrollToEnd(): void {
    this.#list.scrollToEnd();
  }
}

function line({ event, beforeAt }: RawEvent): HTMLElement {
  const json = JSON.stringify(event, undefined, 2);
  const { seq, kind, at, requestId, traceId, traceparent } = event;
  const copy = element('button', { type: 'button', className: 'copy' }, 'Copy');
  copy.dataset.testid = 'copy';
  copy.setAttribute('aria-label', `Copy event ${String(seq)}`);
  copy.addEventListener('click', () => void copyText(copy, json));
  const since = duration(beforeAt, at);
  const trace = traceOf(traceId ?? traceparent);
  return element(
    'li',
    { className: 'raw', dataset: { testid: 'event', seq: String(seq ?? ''), kind: String(kind) } },
    element(
      'p',
      { className: 'head' },
      element('b', {}, `${String(seq ?? '–')} ${String(kind ?? '')}`),
      timeElement(at),
      element('span', { className: 'took' }, since === '' ? '' : `+${since}`),
      ...id('request', requestId),
      ...id('trace', trace),
      copy,
    ),
    element('pre', { tabIndex: 0 }, json),
  );
}

function id(name: string, value: unknown): Node[] {
  return typeof value === 'string' && value !== ''
    ? [element('span', { className: 'id' }, `${name} `, element('code', {}, value))]
    : [];
}

/** The trace of a `traceparent` (W3C Trace Context), or the id itself. */
function traceOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return /^[\da-f]{2}-([\da-f]{32})-/.exec(value)?.[1] ?? value;
}

async function copyText(button: HTMLButtonElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not allowed';
  }
  setTimeout(() => (button.textContent = 'Copy'), COPIED_MS);
}
