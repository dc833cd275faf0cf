/** After a wake-up, a connection that brings nothing for this long counts as dead. */
const PROOF_MS = 3_000;
/** So many new reads in a row have the short limit. A slow network gets more time after them. */
const SHORT_PROOFS = 2;
/** A reader that heard something within this time needs no proof. */
const FRESH_MS = 5_000;

/**
 * The requests of one reader. A silent response is aborted, before its headers or within its body: without that, a
 * connection that vanished would be awaited without end. Only the time in which somebody waits counts.
 */
export class ReadRequests {
  readonly #fetch: typeof fetch;
  readonly #silenceMs: number;
  /** How many wait for headers or for the next bytes. */
  #waiting = 0;
  /** When something was heard or a read began. By the wall clock, because others stand still while the machine sleeps. */
  #heardAtMs = Date.now();
  /** How many reads have begun in vain since the connection came into doubt. Undefined if it is not. */
  #unproven: number | undefined;

  constructor(fetchNow: typeof fetch, silenceMs: number) {
    this.#fetch = fetchNow;
    this.#silenceMs = silenceMs;
  }

  /** Whether a request is under way, or somebody reads the body of one. */
  get areOpen(): boolean {
    return this.#waiting > 0;
  }

  /** Whether nothing was heard for so long that the connection may be dead. */
  get areSilent(): boolean {
    return Date.now() - this.#heardAtMs >= FRESH_MS;
  }

  /** Whether the connection has yet to prove that it lives. */
  get areInDoubt(): boolean {
    return this.#unproven !== undefined;
  }

  /** From now on a read has to bring something soon. */
  doubt(): void {
    this.#unproven = 0;
  }

  /** Called at the beginning of each read. */
  begin(): void {
    if (this.#unproven !== undefined) this.#unproven += 1;
    this.#heardAtMs = Date.now();
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const stalled = new AbortController();
    const inTime = <T>(waiting: Promise<T>): Promise<T> => this.#inTime(waiting, stalled);
    const signal = AbortSignal.any([stalled.signal, ...(init.signal ? [init.signal] : [])]);
    const cache = this.areInDoubt ? { cache: 'no-store' as const } : {};
    const response = await inTime(this.#fetch(input, { ...init, ...cache, signal }));
    return response.body ? new Response(guarded(response.body, inTime), response) : response;
  };

  async #inTime<T>(waiting: Promise<T>, stalled: AbortController): Promise<T> {
    const stall = (): void => stalled.abort(new DOMException('no answer in time', 'TimeoutError'));
    const timer = setTimeout(stall, this.#limitMs());
    this.#waiting += 1;
    try {
      const heard = await waiting;
      this.#heardAtMs = Date.now();
      this.#unproven = undefined;
      return heard;
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
    }
  }

  #limitMs(): number {
    if (this.#unproven === undefined) return this.#silenceMs;
    const doublings = Math.max(0, this.#unproven - SHORT_PROOFS);
    return Math.min(this.#silenceMs, PROOF_MS * 2 ** doublings);
  }
}

function guarded(
  body: ReadableStream<Uint8Array>,
  inTime: <T>(waiting: Promise<T>) => Promise<T>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await inTime(reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead: what nobody reads must not count as being read.
    { highWaterMark: 0 },
  );
}
