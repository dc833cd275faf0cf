import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials.ts';
import type { Random } from './random.ts';

const ATTEMPT_TIMEOUT_MS = 10_000;
const RETRY_PAUSE_MS = 250;
const COMMANDS_PER_SECOND = 9;
const APPENDS_PER_SECOND = 4;

/** The answers to one kind of request. */
export class Answers {
  /** How often each status code was received. 0 means no whole response. */
  readonly statuses = new Map<number, number>();
  /** Those that no client should ever get. */
  readonly unexpected: string[] = [];
  private readonly wanted: number[];

  constructor(...wanted: number[]) {
    this.wanted = wanted;
  }

  /** Sends this once, or until it is answered as wanted where it may be sent again. */
  async to(url: string, body: string, headers: object, maySendAgain: boolean): Promise<Outcome> {
    for (let attempts = 1; ; attempts++) {
      const status = await statusOf(url, body, headers);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (this.wanted.includes(status)) return { isAccepted: true, attempts };
      const isLost = status === 0 || status >= 502;
      if (!isLost) this.unexpected.push(`${status} for ${body}`);
      if (!isLost || !maySendAgain) return { isAccepted: false, attempts };
      await sleep(RETRY_PAUSE_MS);
    }
  }
}

interface Outcome {
  isAccepted: boolean;
  attempts: number;
}

/** A command and its outcome. */
export interface SentCommand extends Outcome {
  entity: string;
  /** In the message, so that its effects are found on the timeline; the key too where it has one. */
  text: string;
  isKeyed: boolean;
}

async function statusOf(url: string, body: string, headers: object): Promise<number> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { ...AUTHORIZED, 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/**
 * Sends messages to entities, as a client should: a keyed one again, with its key, until it is accepted; one without a key once,
 * and whether an unanswered one counts is not known. After the signal those under way are brought to their end.
 */
export async function sendCommands(
  url: string,
  entities: readonly [string, ...string[]],
  random: Random,
  answers: Answers,
  signal: AbortSignal,
): Promise<SentCommand[]> {
  const sending: Promise<SentCommand>[] = [];
  while (!signal.aborted) {
    const entity = random.pick(entities);
    const text = `command-${sending.length}`;
    const isKeyed = random.next() < 0.8;
    const body = JSON.stringify({ kind: 'message', content: [{ type: 'text', text }] });
    // Entities of another load have commands of the same number.
    const key = isKeyed ? { 'idempotency-key': `${entity}-${text}` } : {};
    const sent = answers.to(`${url}/api/a/echo/${entity}/send`, body, key, isKeyed);
    sending.push(sent.then((outcome) => ({ entity, text, isKeyed, ...outcome })));
    const pauseMs = (1_000 / COMMANDS_PER_SECOND) * random.between(0.5, 1.5);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return Promise.all(sending);
}

/** Appends numbered events to a stream until the signal, each again until it is written (producer headers). Returns their number. */
export async function appendEvents(
  url: string,
  answers: Answers,
  signal: AbortSignal,
): Promise<number> {
  let seq = 0;
  for (; !signal.aborted; seq++) {
    const producer = {
      'producer-id': 'soak',
      'producer-epoch': '0',
      'producer-seq': String(seq),
    };
    await answers.to(url, JSON.stringify({ seq }), producer, true);
    await sleep(1_000 / APPENDS_PER_SECOND, undefined, { signal }).catch(() => undefined);
  }
  return seq;
}
