import { setTimeout as sleep } from 'node:timers/promises';
import { stream, type Offset } from '@durable-streams/client';
import type { Random } from '../soak/random.ts';
import { ReceivedEvents, type NumberedEvent } from '../support/numbered-events.ts';
import { ReadToken } from '../support/read-token.ts';

export interface CrowdReaderOptions {
  url: string;
  live: 'long-poll' | 'sse';
  mintToken: (ttlSeconds: number) => Promise<string>;
  ttlSeconds: number;
  random: Random;
  /** How long it takes over each piece of an answer, in milliseconds at most. */
  slownessMs: number;
  /** After this long at most, in milliseconds, it goes away in the middle of whatever it reads. */
  maxStayMs: number;
}

const BACKOFF = { initialDelay: 10, maxDelay: 100, multiplier: 1.5 };
const RESTART_PAUSE_MS = 20;

/** The real client of a reader who leaves and returns, each time from the last offset. */
export class CrowdReader {
  readonly received = new ReceivedEvents();
  readonly finished: Promise<void>;
  private readonly options: CrowdReaderOptions;
  private readonly stopped = new AbortController();
  private readonly token: ReadToken;
  private offset: Offset = '-1';
  /** Grows while nothing comes: on a busy machine no token and no stay may be long enough else. */
  private patience = 1;

  constructor(options: CrowdReaderOptions) {
    this.options = options;
    this.token = new ReadToken(async () => {
      const ttlSeconds = options.ttlSeconds * this.patience;
      return { token: await options.mintToken(ttlSeconds), ttlSeconds };
    }, 0);
    this.finished = this.run();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.finished;
  }

  private async run(): Promise<void> {
    const { random, maxStayMs } = this.options;
    while (!this.stopped.signal.aborted) {
      const before = this.received.seqs.length;
      const stayMs = Math.ceil(random.between(1, maxStayMs) * this.patience);
      await this.readUntil(AbortSignal.any([this.stopped.signal, AbortSignal.timeout(stayMs)]));
      this.patience = this.received.seqs.length > before ? 1 : this.patience * 1.5;
      await sleep(RESTART_PAUSE_MS);
    }
  }

  private async readUntil(left: AbortSignal): Promise<void> {
    const { url, live } = this.options;
    let isOver = false;
    try {
      const read = await stream<NumberedEvent>({
        url,
        live,
        offset: this.offset,
        headers: { Authorization: () => this.token.authorization() },
        // The client overlooks an abort that comes while it waits to connect again, and would try for good: 400 ends it.
        fetch: (...args) =>
          left.aborted ? Promise.resolve(new Response(null, { status: 400 })) : this.fetch(...args),
        signal: left,
        json: true,
        warnOnHttp: false,
        backoffOptions: BACKOFF,
        sseResilience: { logWarnings: false },
      });
      read.subscribeJson((batch) => {
        // `closed` can reject before the last batch is here; the next read brings it again.
        if (isOver || left.aborted) return;
        this.offset = batch.offset;
        this.received.add(batch.items);
      });
      // By event stream `closed` does not always settle where the read was aborted.
      await Promise.race([read.closed, aborted(left)]);
    } catch (error) {
      const { status } = error as { status?: number };
      if (status === 401) this.token.drop();
    }
    isOver = true;
  }

  /** The global one, with somebody behind it who takes his time. */
  private readonly fetch: typeof globalThis.fetch = async (...args) => {
    const response = await fetch(...args);
    const { slownessMs, random } = this.options;
    if (slownessMs === 0 || !response.body) return response;
    const slowly = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (piece, controller) => {
        await sleep(random.between(0, slownessMs));
        controller.enqueue(piece);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(slowly), { status, headers });
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
