import { StateTeller, type LiveOptions } from './live-state.ts';
import { chunksOf } from './stream.ts';
import type { Transport } from './transport.ts';

/** An event of a timeline. Agents add fields of their own. */
export interface TimelineEvent {
  /** 0, 1, 2 … without a gap. */
  seq: number;
  /** When it was written, as ISO 8601 in UTC. */
  at: string;
  kind: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what it is depends on the kind
  [name: string]: any;
}

/** Where the next read of the same timeline continues: after the last event that was delivered. */
export interface Bookmark {
  /** All before this offset has been handed out, … */
  offset: string;
  /** … and, of the events after it, those up to this number. */
  seq: number | undefined;
}

/** Numbers that are missing from a timeline. It is a fault, of the agent or of its store. */
export interface Gap {
  expectedSeq: number;
  receivedSeq: number;
}

export interface TimelineOptions extends LiveOptions {
  /** `start` (the default), `now` for what is written from now on, an offset, or a bookmark. */
  from?: 'start' | 'now' | (string & {}) | Bookmark;
  /**
   * Wait for what is new by events (the default) or by long-polls; false reads all that is there,
   * hands it out and ends.
   */
  live?: 'sse' | 'long-poll' | false;
  /** Wait for a timeline that is not there yet, as an agent writes it only after its spawn. Default true. */
  waitForStream?: boolean;
  /** Hears of numbers that are missing. */
  onGap?: (gap: Gap) => void;
}

/**
 * The events of a timeline, each once and in order. Iterate over it, or subscribe.
 *
 * A read that breaks is begun again where it was, a token is renewed, and a gateway that is away is waited for. The
 * iteration ends when the signal aborts or the stream is closed, and throws an `APIError` for what does not pass: 400, 403,
 * 410, a 401 of a key that cannot be another one.
 */
export class Timeline<Event extends TimelineEvent = TimelineEvent> implements AsyncIterable<Event> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #options: TimelineOptions;
  readonly #isRenewable: boolean;
  #bookmark: Bookmark;
  #isReading = false;

  /** Made by `AgentGateway.timeline`. */
  constructor(transport: Transport, path: string, isRenewable: boolean, options: TimelineOptions) {
    this.#transport = transport;
    this.#path = path;
    this.#isRenewable = isRenewable;
    this.#options = options;
    this.#bookmark = bookmarkOf(options.from);
  }

  /** Store it after each event that you have handled. A later read then continues after that event. */
  get bookmark(): Bookmark {
    return { ...this.#bookmark };
  }

  /** One iteration at a time. The next one continues where the last one stopped. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    if (this.#isReading)
      throw new TypeError('This timeline is being read: iterate once at a time.');
    this.#isReading = true;
    const { signal, live = 'sse', waitForStream = true, onState } = this.#options;
    const read = {
      path: this.#path,
      from: this.#bookmark.offset,
      live,
      isJson: true,
      parse: JSON.parse,
      waitForStream,
      isRenewable: this.#isRenewable,
      states: new StateTeller(onState),
    };
    try {
      for await (const { items, offset } of chunksOf(this.#transport, read, signal)) {
        if (items.length === 0) this.#bookmark.offset = offset;
        for (const [index, item] of (items as readonly Event[]).entries()) {
          const isLast = index === items.length - 1;
          const isNew = this.#judge(item.seq);
          if (isLast) this.#bookmark.offset = offset;
          if (isNew) yield item;
          if (signal?.aborted === true) return;
        }
      }
    } finally {
      this.#isReading = false;
    }
  }

  /**
   * Calls `onEvent` with each event, one after the other; one that answers a promise is waited for. Resolves where the
   * iteration would end, and rejects where it would throw. Abort the signal to stop.
   */
  async subscribe(onEvent: (event: Event) => unknown): Promise<void> {
    for await (const event of this) await onEvent(event);
  }

  /** Whether an event is one that has not been handed out yet; notes it down. */
  #judge(seq: unknown): boolean {
    if (typeof seq !== 'number') return true;
    const last = this.#bookmark.seq;
    if (last !== undefined && seq <= last) return false;
    if (last !== undefined && seq > last + 1) {
      this.#options.onGap?.({ expectedSeq: last + 1, receivedSeq: seq });
    }
    this.#bookmark.seq = seq;
    return true;
  }
}

function bookmarkOf(from: TimelineOptions['from'] = 'start'): Bookmark {
  if (typeof from === 'object') return { ...from };
  // At the start number 0 is to come.
  if (from === 'start' || from === '-1') return { offset: '-1', seq: -1 };
  return { offset: from, seq: undefined };
}
