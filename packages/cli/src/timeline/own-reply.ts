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
    if (isOwn) this.outcome = this.#outcomeOf(event, isOfRequest);
    return this.outcome !== undefined;
  }

  #outcomeOf({ kind, reason, message }: TimelineEvent, isOfRequest: boolean): Outcome | undefined {
    if (kind === this.#kind) return { kind: 'replied' };
    if (kind === 'interrupted') return { kind: 'interrupted' };
    // After an error for a message its reply may still come.
    if (!isOfRequest || (kind !== 'rejected' && kind !== 'error')) return undefined;
    const said = kind === 'rejected' ? reason : message;
    return { kind: 'refused', reason: typeof said === 'string' ? plainLine(said) : 'no reason' };
  }
}
