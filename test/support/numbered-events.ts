import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { Changes } from './changes.ts';
import { awaited } from './until.ts';

/** An event of the tests' timelines. `seq` counts from 0 without a gap. */
export interface NumberedEvent {
  seq: number;
  text?: string;
}

/** Appends numbered events directly to the history store, not through the gateway. */
export class EventWriter {
  private readonly url: string;
  private nextSeq = 0;

  constructor(url: string) {
    this.url = url;
  }

  async create(): Promise<void> {
    await this.send('PUT', undefined);
  }

  /** Appends that many events in one request, each with so many bytes that no encoding makes small. */
  async append(count = 1, textBytes = 0): Promise<void> {
    const events = Array.from({ length: count }, () => ({
      seq: this.nextSeq++,
      text: randomBytes(textBytes).toString('base64'),
    }));
    await this.send('POST', JSON.stringify(events));
  }

  /** How many events there are. */
  get count(): number {
    return this.nextSeq;
  }

  private async send(method: 'PUT' | 'POST', body: string | undefined): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    // On a connection of its own: a kept one may just be closing, and an append is not to be repeated.
    const answer = await request(this.url, { method, headers, body, reset: true });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`${method} ${this.url}: ${answer.statusCode}`);
  }
}

/** Creates the timeline of `chat/<id>` in a history store, with this many events of so many bytes. */
export async function newTimeline(
  historyUrl: string,
  id: string,
  count = 0,
  textBytes = 0,
): Promise<EventWriter> {
  const writer = new EventWriter(`${historyUrl}/t/default/agents/chat/${id}/timeline`);
  await writer.create();
  if (count > 0) await writer.append(count, textBytes);
  return writer;
}

/** The events that a reader received, in order. */
export class ReceivedEvents {
  readonly seqs: number[] = [];
  private readonly changes = new Changes();

  readonly add = (events: readonly NumberedEvent[]): void => {
    this.seqs.push(...events.map(({ seq }) => seq));
    this.changes.tell();
  };

  /** Fulfils once that many have come. */
  until(count: number): Promise<void> {
    const received = this.changes.until(() => this.seqs.length >= count);
    return awaited(() => `${count} events come, after ${this.seqs.length}`, received);
  }
}

/** 0, 1, 2 … */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, seq) => seq);
}
