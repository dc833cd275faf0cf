import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials.ts';
import type { Random } from './random.ts';

const ATTEMPT_TIMEOUT_MS = 10_000;
export const RETRY_PAUSE_MS = 250;

/** A command and its outcome. */
export interface SentCommand {
  entity: string;
  /** In the message, so that its effects are found on the timeline; the key too where it has one. */
  text: string;
  isKeyed: boolean;
  /** Whether a 202 came. */
  isAccepted: boolean;
  attempts: number;
}

/** How often each status code was received. 0 means no response. */
export type Statuses = Map<number, number>;

export function count(statuses: Statuses, status: number): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

/** The status of an answer, or 0 where no whole one came. */
export async function statusOf(url: string, init: RequestInit): Promise<number> {
  try {
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const response = await fetch(url, { ...init, signal });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/**
 * Sends messages to entities, as a client should: a keyed one again, with its key, until it is
 * accepted; one without a key once, and whether an unanswered one counts is not known.
 */
export class Commander {
  readonly sent: SentCommand[] = [];
  readonly statuses: Statuses = new Map();
  /** Answers that no client should ever get. */
  readonly unexpected: string[] = [];
  private readonly url: string;
  private readonly entities: readonly [string, ...string[]];
  private readonly random: Random;
  private readonly name: string;

  constructor(name: string, url: string, entities: readonly [string, ...string[]], random: Random) {
    this.name = name;
    this.url = url;
    this.entities = entities;
    this.random = random;
  }

  /** Until the signal; a keyed command under way is brought to its end. */
  async run(perSecond: number, signal: AbortSignal): Promise<void> {
    const underWay: Promise<void>[] = [];
    while (!signal.aborted) {
      underWay.push(this.sendNext());
      const pauseMs = (1_000 / perSecond) * this.random.between(0.5, 1.5);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(underWay);
  }

  private async sendNext(): Promise<void> {
    const command: SentCommand = {
      entity: this.random.pick(this.entities),
      text: `${this.name}-${this.sent.length}`,
      isKeyed: this.random.next() < 0.8,
      isAccepted: false,
      attempts: 0,
    };
    this.sent.push(command);
    do {
      if (command.attempts > 0) await sleep(RETRY_PAUSE_MS);
      command.attempts++;
      const status = await this.attempt(command);
      count(this.statuses, status);
      command.isAccepted = status === 202;
      if (status !== 0 && status !== 202 && status < 502) {
        this.unexpected.push(`${status} for ${command.text}`);
        return;
      }
    } while (command.isKeyed && !command.isAccepted);
  }

  private attempt({ entity, text, isKeyed }: SentCommand): Promise<number> {
    return statusOf(`${this.url}/api/a/echo/${entity}/send`, {
      method: 'POST',
      headers: {
        ...AUTHORIZED,
        'content-type': 'application/json',
        ...(isKeyed && { 'idempotency-key': text }),
      },
      body: JSON.stringify({ kind: 'message', content: [{ type: 'text', text }] }),
    });
  }
}
