import type { AgentEvent, TimelineEvent } from './events.ts';
import { StateTeller, type LiveOptions } from './live-state.ts';
import { chunksOf } from './stream.ts';
import type { Transport } from './transport.ts';

/** Where the next read of the same timeline continues: after the last event that was delivered. */
export interface Bookmark {
  /** All events before this offset have been delivered, … */
  offset: string;
  /** … and those after it up to this number. */
  seq: number | undefined;
}

/** Missing numbers of a timeline. They mean a fault of the agent or of its store. */
export interface Gap {
  expectedSeq: number;
  receivedSeq: number;
}

export interface TimelineOptions extends LiveOptions {
  /** Where to begin: `start` (the default), `now` for new events only, an offset, or a bookmark. */
  from?: 'start' | 'now' | (string & {}) | Bookmark;
  /**
   * How to wait for new events: by events (the default) or by long-polls. False delivers all existing events and
   * ends.
   */
  live?: 'sse' | 'long-poll' | false;
  /**
   * Whether to wait for a timeline that does not exist yet, because an agent creates it only after its spawn.
   * Default true.
   */
  waitForStream?: boolean;
  /** Called when numbers are missing. */
  onGap?: (gap: Gap) => void;
}

/**
 * The events of a timeline, each once and in order. Iterate over it, or subscribe. After a failure the read
 * continues where it was, tokens are renewed, and an unavailable gateway is waited for. The iteration ends when the
 * signal aborts or the stream is closed. It throws an `APIError` for a final failure: 400, 403, 410, or a 401 for a
 * key that cannot change.
 */
export class Timeline<Event extends TimelineEvent = AgentEvent> implements AsyncIterable<Event> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #options: TimelineOptions;
  readonly #isRenewable: boolean;
  #bookmark: Bookmark;
  #isReading = false;

  /** Created by `AgentGateway.timeline`. */
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

  /** Only one iteration may run at a time. The next one continues where the last one stopped. */
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
   * Calls `onEvent` with each event, one after the other, and waits for a returned promise. Resolves when the
   * iteration would end, and rejects when it would throw. Abort the signal to stop.
   */
  async subscribe(onEvent: (event: Event) => unknown): Promise<void> {
    for await (const event of this) await onEvent(event);
  }

  /** Whether an event has not been delivered yet. Records it. */
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
  // A read from the start expects number 0 first.
  if (from === 'start' || from === '-1') return { offset: '-1', seq: -1 };
  return { offset: from, seq: undefined };
}
