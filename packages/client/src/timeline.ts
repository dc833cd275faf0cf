import { APIError } from './api-error.ts';
import type { AgentEvent, TimelineEvent } from './events.ts';
import { StateTeller, type LiveOptions } from './live-state.ts';
import { validated, type StandardSchema } from './standard-schema.ts';
import { chunksOf, RESET } from './stream.ts';
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

/** Options of `timeline`. */
export interface TimelineOptions<Event = AgentEvent> extends LiveOptions {
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
  /**
   * Only so many of the existing events, the newest, and then new ones. The store can be read from its start only, so
   * older events are read as well, and dropped.
   */
  last?: number;
  /** Checks each event, and gives it its type. An event that does not match throws an `APIError` `invalid_event`. */
  schema?: StandardSchema<Event>;
  /**
   * Called when the store has less than has been read, because it was restored from a copy. The events come again from
   * the start: forget those that came before.
   */
  onReset?: () => void;
  /** Called when numbers are missing. */
  onGap?: (gap: Gap) => void;
}

/**
 * The events of a timeline, each once and in order. Iterate over it, or subscribe. After a failure the read
 * continues where it was, tokens are renewed, and an unavailable gateway is waited for. The iteration ends when the
 * signal aborts or the stream is closed. It throws an `APIError` for a final failure: 400, 403, 410, or a 401 for a
 * key that cannot change.
 */
export class Timeline<Event = AgentEvent> implements AsyncIterable<Event> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #options: TimelineOptions<Event>;
  readonly #isRenewable: boolean;
  #bookmark: Bookmark;
  /** How many events to hold back until the existing ones have been read. */
  #last: number | undefined;
  #isReading = false;

  /** Created by `AgentGateway.timeline`. Throws a TypeError for a `last` that is no count. */
  constructor(
    transport: Transport,
    path: string,
    isRenewable: boolean,
    options: TimelineOptions<Event>,
  ) {
    const { last, from } = options;
    if (last !== undefined && !(Number.isSafeInteger(last) && last > 0)) {
      throw new TypeError('last must be 1 or more.');
    }
    this.#transport = transport;
    this.#path = path;
    this.#isRenewable = isRenewable;
    this.#options = options;
    this.#bookmark = bookmarkOf(from);
    this.#last = last;
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
    const { signal, schema } = this.#options;
    try {
      for await (const place of this.#places()) {
        this.#pass(place);
        yield schema ? await checked(schema, place.item) : (place.item as Event);
        if (signal?.aborted === true) return;
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

  /** The new events, without those that `last` drops. */
  async *#places(): AsyncGenerator<Place, void, undefined> {
    const held: Place[] = [];
    for await (const place of this.#allPlaces()) {
      if (place.item === RESET) held.length = 0;
      else if (this.#last === undefined) yield place;
      else if (place.item !== UP_TO_DATE) {
        held.push(place);
        if (held.length > this.#last) this.#pass(held.shift() as Place);
      } else {
        this.#last = undefined;
        yield* held.splice(0);
      }
    }
    // A stream may close before it says that this is all.
    yield* held;
  }

  async *#allPlaces(): AsyncGenerator<Place, void, undefined> {
    const { signal, live = 'sse', waitForStream = true, onState } = this.#options;
    let { offset: before, seq: lastSeq } = this.#bookmark;
    const read = {
      path: this.#path,
      from: before,
      live,
      isJson: true,
      parse: JSON.parse,
      waitForStream,
      isRenewable: this.#isRenewable,
      states: new StateTeller(onState),
    };
    for await (const chunk of chunksOf(this.#transport, read, signal)) {
      if (chunk === RESET) {
        this.#startOver();
        before = '-1';
        lastSeq = -1;
        yield { item: RESET, offset: before, seq: lastSeq };
        continue;
      }
      const { items, offset, isUpToDate } = chunk;
      for (const [index, item] of items.entries()) {
        const { seq } = (item ?? {}) as Partial<TimelineEvent>;
        const isNew = this.#judge(seq, lastSeq);
        if (typeof seq === 'number' && isNew) lastSeq = seq;
        // Only after the last event of a chunk its offset is known.
        const place = { item, seq: lastSeq, offset: index === items.length - 1 ? offset : before };
        if (isNew) yield place;
        else this.#pass(place);
      }
      before = offset;
      if (items.length === 0 && this.#last === undefined) this.#bookmark.offset = offset;
      if (isUpToDate && this.#last !== undefined) yield { item: UP_TO_DATE, offset, seq: lastSeq };
    }
  }

  #startOver(): void {
    this.#bookmark = { offset: '-1', seq: -1 };
    this.#last = this.#options.last;
    this.#options.onReset?.();
  }

  #pass({ offset, seq }: Place): void {
    this.#bookmark = { offset, seq };
  }

  /** Whether an event has not been delivered yet. */
  #judge(seq: unknown, last: number | undefined): boolean {
    if (typeof seq !== 'number') return true;
    if (last !== undefined && seq <= last) return false;
    if (last !== undefined && seq > last + 1) {
      this.#options.onGap?.({ expectedSeq: last + 1, receivedSeq: seq });
    }
    return true;
  }
}

/** An event, and the bookmark after it. */
interface Place extends Bookmark {
  item: unknown;
}

/** Stands for the moment at which all existing events have been read. */
const UP_TO_DATE = Symbol('up to date');

async function checked<Event>(schema: StandardSchema<Event>, item: unknown): Promise<Event> {
  const result = await validated(schema, item);
  if ('value' in result) return result.value;
  const { seq, kind } = (item ?? {}) as Partial<TimelineEvent>;
  const message = `Event ${String(seq)} (${String(kind)}) does not match the schema: ${result.wrong}.`;
  throw new APIError(message, { code: 'invalid_event' });
}

function bookmarkOf(from: TimelineOptions['from'] = 'start'): Bookmark {
  if (typeof from === 'object') return { ...from };
  // A read from the start expects number 0 first.
  if (from === 'start' || from === '-1') return { offset: '-1', seq: -1 };
  return { offset: from, seq: undefined };
}
