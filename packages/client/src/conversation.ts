import type { AgentEvent, AgentStatus, TimelineEvent } from './events.ts';
import { isObject, isOpen, messageOf, newTurn, turnAfter } from './turn.ts';
import type { Conversation, Note, Turn } from './turn.ts';

const EMPTY: Conversation = {
  turns: [],
  items: [],
  status: 'idle',
  nextSeq: undefined,
  heldStatus: undefined,
};
const HELD: readonly unknown[] = ['paused', 'archived', 'failing'] satisfies AgentStatus[];
/** The gateway's rule for `X-Request-Id`. The other keys have a `#`, which no such id has. */
const REQUEST_ID = /^[\w.-]{1,128}$/;

/**
 * Makes turns of the events of a timeline. `before` is the result for the events before these. The result is the same
 * however the events are cut into calls, and events that `before` has already are ignored. Turns and notes that did
 * not change are the same objects as before, and so is the whole if nothing changed.
 */
export function conversation(
  events: readonly TimelineEvent[],
  before: Conversation = EMPTY,
): Conversation {
  const draft = new Draft(before);
  for (const event of events) draft.add(event);
  return draft.result();
}

/** The work of one call, on copies. */
class Draft {
  readonly #before: Conversation;
  readonly #turns: Turn[];
  readonly #items: (Turn | Note)[];
  #nextSeq: number | undefined;
  #heldStatus: AgentStatus | undefined;
  #isChanged = false;

  constructor(before: Conversation) {
    this.#before = before;
    this.#turns = [...before.turns];
    this.#items = [...before.items];
    this.#nextSeq = before.nextSeq;
    this.#heldStatus = before.heldStatus;
  }

  result(): Conversation {
    if (!this.#isChanged) return this.#before;
    return {
      turns: this.#turns,
      items: this.#items,
      status: this.#heldStatus ?? (this.#turns.some(isOpen) ? 'running' : 'idle'),
      nextSeq: this.#nextSeq,
      heldStatus: this.#heldStatus,
    };
  }

  add(given: TimelineEvent): void {
    const event = (isObject(given) ? given : { value: given }) as AgentEvent;
    if (!this.#count(event.seq)) return;
    this.#isChanged = true;
    if (event.kind === 'status') {
      this.#heldStatus = HELD.includes(event.status) ? event.status : undefined;
    }
    if (event.kind === 'message' && Number.isSafeInteger(event.seq)) {
      this.#addTurn(event.seq, event.at, event);
    } else if (!this.#addToTurn(event)) this.#addNote(event);
  }

  /** Whether the event is new. Notes numbers that are missing before it. */
  #count(seq: unknown): boolean {
    if (!isNumber(seq)) return true;
    const expected = this.#nextSeq ?? seq;
    if (seq < expected) return false;
    if (seq > expected) {
      const gap = [expected, seq - 1] as const;
      this.#items.push({
        kind: 'note',
        key: `#gap${expected}`,
        what: 'gap',
        event: undefined,
        gap,
      });
    }
    this.#nextSeq = seq + 1;
    return true;
  }

  /** Whether it is an event of a turn. */
  #addToTurn(event: AgentEvent): boolean {
    const turn = event.kind === 'refused' ? this.#refused(event.requestId) : this.#answered(event);
    const after = turn && turnAfter(turn, event);
    if (!after) return false;
    const place = this.#turns.lastIndexOf(turn);
    if (place === -1) this.#insert(after);
    else {
      this.#turns[place] = after;
      this.#items[this.#items.lastIndexOf(turn)] = after;
    }
    return true;
  }

  /** The turn whose message the agent refused after it had come. */
  #refused(requestId: unknown): Turn | undefined {
    if (typeof requestId !== 'string') return undefined;
    return this.#turns.findLast((turn) => isOpen(turn) && turn.message?.requestId === requestId);
  }

  /** The turn that an event names, a new one if its message is before what was read. */
  #answered({ at, ...event }: AgentEvent): Turn | undefined {
    const seq: unknown = 'replyTo' in event ? event.replyTo : undefined;
    // A message that has not come yet has no answer.
    if (!isNumber(seq) || seq >= (this.#nextSeq ?? -Infinity)) return undefined;
    return this.#turns.findLast((turn) => turn.seq === seq) ?? newTurn(`#turn${seq}`, seq, at);
  }

  #addTurn(seq: number, at: string, event: AgentEvent & { kind: 'message' }): void {
    const message = messageOf(event);
    const { requestId } = message;
    const isKey =
      REQUEST_ID.test(requestId ?? '') && !this.#turns.some(({ key }) => key === requestId);
    const turn = { ...newTurn(isKey ? `${requestId}` : `#turn${seq}`, seq, at), message };
    this.#turns.push(turn);
    this.#items.push(turn);
  }

  /** Puts a turn where its message would be among the turns. */
  #insert(turn: Turn): void {
    const place = this.#turns.findIndex(({ seq }) => (seq ?? Infinity) > (turn.seq ?? Infinity));
    const next = this.#turns[place];
    this.#items.splice(next ? this.#items.lastIndexOf(next) : this.#items.length, 0, turn);
    this.#turns.splice(next ? place : this.#turns.length, 0, turn);
  }

  #addNote(event: TimelineEvent): void {
    const { seq, kind } = event as Partial<TimelineEvent>;
    this.#items.push({
      kind: 'note',
      // There are never fewer items than before, so the second number is a new one.
      key: isNumber(seq) ? `#${seq}` : `#x${this.#items.length}`,
      what: typeof kind === 'string' ? kind : 'event',
      event,
      gap: undefined,
    });
  }
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
