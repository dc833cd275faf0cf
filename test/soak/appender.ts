import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials.ts';
import { count, RETRY_PAUSE_MS, statusOf, type Statuses } from './commanders.ts';

/** Appends numbered events to a stream of its own, and repeats each append until it succeeds (producer headers). */
export class Appender {
  written = 0;
  readonly statuses: Statuses = new Map();
  readonly unexpected: string[] = [];
  private readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async create(): Promise<void> {
    const response = await fetch(this.url, { method: 'PUT', headers: HEADERS });
    if (!response.ok) throw new Error(`${this.url}: ${response.status}`);
    await response.arrayBuffer();
  }

  async run(perSecond: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.write({ seq: this.written });
      this.written++;
      await sleep(1_000 / perSecond, undefined, { signal }).catch(() => undefined);
    }
  }

  private async write(event: { seq: number }): Promise<void> {
    for (;;) {
      const status = await this.attempt(event);
      count(this.statuses, status);
      if (status >= 200 && status < 300) return;
      if (status !== 0 && status < 502) this.unexpected.push(`${status} for event ${event.seq}`);
      await sleep(RETRY_PAUSE_MS);
    }
  }

  private attempt(event: { seq: number }): Promise<number> {
    return statusOf(this.url, {
      method: 'POST',
      headers: {
        ...HEADERS,
        'producer-id': 'soak',
        'producer-epoch': '0',
        'producer-seq': String(event.seq),
      },
      body: JSON.stringify(event),
    });
  }
}

const HEADERS = { ...AUTHORIZED, 'content-type': 'application/json' };
