import { plainLine } from '../output/plain-text.ts';
import type { TimelineEvent } from './event-text.ts';

/** What has become of a message. */
export type Outcome =
  { kind: 'replied' } | { kind: 'refused'; reason: string } | { kind: 'interrupted' };

/**
 * Looks for what an agent makes of one message: others may talk to it as well. The events are those of `docs/agents.md`: one
 * that a command causes names its request, and a reply the number of its message.
 */
export class OwnReply {
  outcome: Outcome | undefined;
  readonly #requestId: string;
  readonly #kind: string;
  #messageSeq: unknown;

  /** `kind` is the event that ends it, `reply` as a rule. */
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
    // Of an error that answers a message, the reply may still come.
    if (!isOfRequest || (kind !== 'rejected' && kind !== 'error')) return undefined;
    const said = kind === 'rejected' ? reason : message;
    return { kind: 'refused', reason: typeof said === 'string' ? plainLine(said) : 'no reason' };
  }
}
