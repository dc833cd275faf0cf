import { setTimeout as sleep } from 'node:timers/promises';
import { stream, type Offset } from '@durable-streams/client';
import { Changes } from './changes.ts';
import type { NumberedEvent } from './numbered-events.ts';
import { awaited } from './until.ts';

export type { NumberedEvent };

export interface ReaderOptions {
  url: string;
  apiKey?: string;
  /** In place of the key: asked for each request. */
  authorization?: () => Promise<string>;
  live: 'long-poll' | 'sse';
  fetch?: typeof fetch;
}

/** The problems with the order of the events. */
export interface ReadFaults {
  gaps: string[];
  repeats: string[];
}

/**
 * Reads a timeline with the real client as an application does: when a read ends, it starts again
 * from its last offset. Every event is checked against the one before it.
 */
export class TimelineReader<Event extends NumberedEvent> {
  readonly events: Event[] = [];
  readonly faults: ReadFaults = { gaps: [], repeats: [] };
  /** How often the read had to be begun again. */
  restarts = 0;
  private readonly options: ReaderOptions;
  private readonly stopped = new AbortController();
  private readonly finished: Promise<void>;
  private readonly changes = new Changes();
  private generation = 0;

  constructor(options: ReaderOptions) {
    this.options = options;
    this.finished = this.run();
  }

  /** Resolves once so many events have been read. */
  until(count: number): Promise<void> {
    const read = this.changes.until(() => this.events.length >= count);
    return awaited(
      () => `${count} events of ${this.options.url}, after ${this.events.length}`,
      read,
    );
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.finished;
  }

  private async run(): Promise<void> {
    let offset: Offset = '-1';
    while (!this.stopped.signal.aborted) {
      const generation = ++this.generation;
      try {
        const { url, apiKey, live, fetch } = this.options;
        const { authorization = `Bearer ${apiKey}` } = this.options;
        const response = await stream<Event>({
          url,
          live,
          offset,
          ...(fetch && { fetch }),
          headers: { authorization },
          signal: this.stopped.signal,
          json: true,
          warnOnHttp: false,
          backoffOptions: BACKOFF,
          sseResilience: { logWarnings: false },
        });
        response.subscribeJson<Event>((batch) => {
          // `closed` can reject before the last batch comes: that one is read again.
          if (generation !== this.generation) return;
          offset = batch.offset;
          for (const event of batch.items) this.take(event);
          this.changes.tell();
        });
        await response.closed;
      } catch {
        // It begins again.
      }
      // `closed` resolves or rejects when the reader is stopped.
      if (this.stopped.signal.aborted) return;
      this.restarts++;
      await pause(this.stopped.signal);
    }
  }

  private take(event: Event): void {
    const expected = this.events.length === 0 ? 0 : (this.events.at(-1)?.seq ?? 0) + 1;
    if (event.seq < expected) this.faults.repeats.push(`${event.seq} after ${expected - 1}`);
    if (event.seq > expected) this.faults.gaps.push(`${event.seq} after ${expected - 1}`);
    this.events.push(event);
  }
}

const BACKOFF = { initialDelay: 50, maxDelay: 500, multiplier: 1.5 };
const RESTART_PAUSE_MS = 50;

async function pause(signal: AbortSignal): Promise<void> {
  await sleep(RESTART_PAUSE_MS, undefined, { signal }).catch(() => undefined);
}
