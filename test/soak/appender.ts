import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials.ts';
import { count, type Statuses } from './commanders.ts';

const ATTEMPT_TIMEOUT_MS = 10_000;
const RETRY_PAUSE_MS = 250;

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

  private async attempt(event: { seq: number }): Promise<number> {
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: {
          ...HEADERS,
          'producer-id': 'soak',
          'producer-epoch': '0',
          'producer-seq': String(event.seq),
        },
        body: JSON.stringify(event),
        signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }
}

const HEADERS = { ...AUTHORIZED, 'content-type': 'application/json' };
