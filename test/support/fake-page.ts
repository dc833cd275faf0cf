/** A page around the readers of a test. */
export interface FakePage {
  hide(): void;
  show(): void;
  /** An event of the window. */
  tell(type: 'online' | 'focus' | 'pageshow'): void;
  remove(): void;
}

/** Gives the process a `document` and the events of a window until it is removed. */
export function fakePage(): FakePage {
  const own = new EventTarget();
  const root = globalThis as Record<string, unknown>;
  let isHidden = false;
  const fakeDocument = Object.defineProperty(new EventTarget(), 'hidden', { get: () => isHidden });
  root.document = fakeDocument;
  root.addEventListener = own.addEventListener.bind(own);
  root.removeEventListener = own.removeEventListener.bind(own);
  const set = (hidden: boolean): void => {
    isHidden = hidden;
    fakeDocument.dispatchEvent(new Event('visibilitychange'));
  };
  return {
    hide: () => set(true),
    show: () => set(false),
    tell: (type) => own.dispatchEvent(new Event(type)),
    remove: () => {
      for (const name of ['document', 'addEventListener', 'removeEventListener']) delete root[name];
    },
  };
}

/** A store behind a gateway, each request of which is answered by the test. */
export class FakeStore {
  /** Every request that has arrived, the latest last. */
  readonly requests: FakeRequest[] = [];
  #arrived: (() => void) | undefined;

  readonly fetch: typeof fetch = (input, init) => {
    const request = new FakeRequest(new URL(input as string), init?.signal ?? undefined);
    this.requests.push(request);
    this.#arrived?.();
    return request.response;
  };

  /** The request with this number, from 1 on, once it has arrived. */
  async request(number: number): Promise<FakeRequest> {
    while (this.requests.length < number) {
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
    return this.requests[number - 1] as FakeRequest;
  }
}

export class FakeRequest {
  readonly offset: string | null;
  readonly live: string | null;
  readonly signal: AbortSignal | undefined;
  readonly response: Promise<Response>;
  readonly #answer: PromiseWithResolvers<Response>;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(url: URL, signal: AbortSignal | undefined) {
    this.offset = url.searchParams.get('offset');
    this.live = url.searchParams.get('live');
    this.signal = signal;
    this.#answer = Promise.withResolvers<Response>();
    this.response = this.#answer.promise;
    signal?.addEventListener('abort', () => this.fail(signal.reason));
  }

  /** Answers with an event stream that stays open. */
  open(): this {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#body = controller),
    });
    const headers = { 'content-type': 'text/event-stream', 'x-request-id': 'r' };
    this.#answer.resolve(new Response(body, { headers }));
    return this;
  }

  /** Sends these items on the event stream, and the offset behind them. */
  send(items: unknown[], streamNextOffset: string): this {
    const data = items.length > 0 ? `event: data\ndata: ${JSON.stringify(items)}\n\n` : '';
    const control = JSON.stringify({ streamNextOffset, upToDate: true });
    const text = `${data}event: control\ndata: ${control}\n\n`;
    this.#body?.enqueue(new TextEncoder().encode(text));
    return this;
  }

  /** Answers with these items, all that there are. */
  page(items: unknown[], nextOffset: string): this {
    return this.answer(200, JSON.stringify(items), {
      'content-type': 'application/json',
      'stream-next-offset': nextOffset,
      'stream-up-to-date': 'true',
      'x-request-id': 'r',
    });
  }

  answer(status: number, body: string, headers: Record<string, string>): this {
    this.#answer.resolve(new Response(body, { status, headers }));
    return this;
  }

  /** Ends the event stream. */
  end(): void {
    this.#body?.close();
  }

  fail(reason: unknown): void {
    this.#answer.reject(reason);
    try {
      this.#body?.error(reason);
    } catch {
      // It has ended.
    }
  }
}
