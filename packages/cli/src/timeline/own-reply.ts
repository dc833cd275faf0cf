import { plainLine } from '../output/plain-text.ts';
import type { TimelineEvent } from './event-text.ts';

/** The state of a message. */
export type Outcome =
  { kind: 'replied' } | { kind: 'refused'; reason: string } | { kind: 'interrupted' };

/**
 * Finds the agent's reaction to one message, because others may talk to the agent too. The events are those of
 * `docs/agents.md`: an event that a command causes names the request, and a reply names the number of its message.
 */
export class OwnReply {
  outcome: Outcome | undefined;
  readonly #requestId: string;
  readonly #kind: string;
  #messageSeq: unknown;

  /** `kind` is the kind of the final event, usually `reply`. */
  constructor(requestId: string, kind: string) {
    this.#requestId = requestId;
    this.#kind = kind;
  }

  /** @returns whether this is the last event of interest. */
  take(event: TimelineEvent): boolean {
    const { kind, seq, requestId, replyTo } = event;
    const isOfRequest = requestId === this.#requestId;
    if (isOfRequest && kind === 'message') this.#messageSeq = seq;
    const isOwn = isOfRequest || (replyTo !== undefined && replyTo === this.#messageSeq);
    if (isOwn) this.outcome = this.#outcomeOf(event);
    return this.outcome !== undefined;
  }

  #outcomeOf(event: TimelineEvent): Outcome | undefined {
    const { kind, reason, message, stopped } = event;
    if (kind === 'interrupted' || (kind === 'reply' && stopped !== undefined)) {
      return { kind: 'interrupted' };
    }
    if (kind === this.#kind) return { kind: 'replied' };
    const isRefusal = kind === 'refused' || kind === 'rejected';
    if (!isRefusal && kind !== 'error') return undefined;
    const said = isRefusal ? reason : message;
    return { kind: 'refused', reason: typeof said === 'string' ? plainLine(said) : 'no reason' };
  }
}
