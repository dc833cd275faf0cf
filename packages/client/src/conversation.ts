import type { AgentEvent, AgentStatus, MessageEvent } from './events.ts';
import type { RefusedEvent, TimelineEvent } from './events.ts';
import { isObject, isOpen, newTurn, turnAfter, turnMovedUp, turnOf } from './turn.ts';
import type { Conversation, Note, Turn } from './turn.ts';

const EMPTY: Conversation = {
  turns: [],
  queued: [],
  items: [],
  status: 'idle',
  nextSeq: undefined,
  heldStatus: undefined,
};
const HELD: readonly unknown[] = [
  'paused',
  'archived',
  'failing',
  'failed',
] satisfies AgentStatus[];
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
  #namesSoFar: Set<string> | undefined;

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
      queued: this.#turns.filter(({ state }) => state === 'queued'),
      items: this.#items,
      status: this.#status(),
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
    // It answers a client that looks for a turn, and says nothing to anybody else.
    if (event.kind === 'located') return;
    if (event.kind === 'message' && isNumber(event.seq)) this.#addTurn(event);
    else if (!this.#addToTurn(event)) this.#addNote(event);
  }

  #status(): AgentStatus {
    const held = this.#heldStatus;
    if (held !== undefined && held !== 'failed') return held;
    if (this.#turns.some(({ state }) => state === 'asking')) return 'waiting';
    return this.#turns.some(isOpen) ? 'running' : (held ?? 'idle');
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
    const turn = event.kind === 'refused' ? this.#refused(event) : this.#answered(event);
    const after = turn && turnAfter(turn, event);
    if (!after) return false;
    this.#put(turn, after);
    if (isOpen(turn) && !isOpen(after)) this.#ended(after, event as { invocationId?: unknown });
    return true;
  }

  /** The turn whose message the agent refused after it had come. A command that has a name is found by it alone. */
  #refused({ invocationId, requestId }: Partial<RefusedEvent>): Turn | undefined {
    if (typeof invocationId === 'string') return this.#named(invocationId);
    if (typeof requestId !== 'string') return undefined;
    return this.#turns.findLast((turn) => isOpen(turn) && turn.message?.requestId === requestId);
  }

  /** The turn that an event names, a new one if its message is before what was read. */
  #answered({ at, ...event }: AgentEvent): Turn | undefined {
    const seq: unknown = 'replyTo' in event ? event.replyTo : undefined;
    // A message that has not come yet has no answer.
    if (!isNumber(seq) || seq >= (this.#nextSeq ?? -Infinity)) return undefined;
    const { invocationId } = event as { invocationId?: unknown };
    return (
      this.#named(invocationId) ??
      this.#turns.findLast((turn) => turn.seq === seq) ??
      newTurn(this.#freeKey(seq), seq, at)
    );
  }

  /** A turn that began again has kept the key of its first message. */
  #freeKey(seq: number): string {
    return this.#names.has(`#turn${seq}`) ? `#old${seq}` : `#turn${seq}`;
  }

  #named(id: unknown): Turn | undefined {
    if (typeof id !== 'string' || !this.#names.has(`# ${id}`)) return undefined;
    return this.#turns.findLast((turn) => turn.id === id);
  }

  /** The keys of all turns, and their ids behind a `# `, so that a long timeline is not searched for each message. */
  get #names(): Set<string> {
    this.#namesSoFar ??= new Set(this.#turns.flatMap(namesOf));
    return this.#namesSoFar;
  }

  /** A message that comes again, after a restore, begins its turn again. One that has ended stays, without its name. */
  #addTurn(event: MessageEvent): void {
    const before = this.#named(event.invocationId);
    const isAgain = before && isOpen(before);
    if (isAgain) this.#remove(before);
    else if (before) this.#put(before, { ...before, id: undefined });
    const turn = turnOf(isAgain ? before.key : this.#newKey(event), event);
    this.#turns.push(turn);
    this.#items.push(turn);
    for (const name of namesOf(turn)) this.#names.add(name);
  }

  #newKey({ seq, requestId }: MessageEvent): string {
    const isId = typeof requestId === 'string' && REQUEST_ID.test(requestId);
    return isId && !this.#names.has(requestId) ? requestId : `#turn${seq}`;
  }

  #remove(turn: Turn): void {
    this.#turns.splice(this.#turns.lastIndexOf(turn), 1);
    this.#items.splice(this.#items.lastIndexOf(turn), 1);
    this.#moveUpAfter(turn);
  }

  #put(turn: Turn, after: Turn): void {
    const place = this.#turns.lastIndexOf(turn);
    if (place === -1) {
      this.#insert(after);
      this.#names.add(after.key);
    } else {
      this.#turns[place] = after;
      this.#items[this.#items.lastIndexOf(turn)] = after;
    }
  }

  #ended(turn: Turn, { invocationId }: { invocationId?: unknown }): void {
    const isHeld = this.#heldStatus === 'paused' || this.#heldStatus === 'archived';
    // Agents that do not name their turns are idle after a failure.
    const isNamed = turn.id !== undefined || typeof invocationId === 'string';
    if (turn.state === 'failed' && isNamed && !isHeld) this.#heldStatus = 'failed';
    if (turn.state === 'done' && this.#heldStatus === 'failed') this.#heldStatus = undefined;
    this.#moveUpAfter(turn);
  }

  /** The turns behind one that has ended have one less before them. */
  #moveUpAfter({ seq = Infinity }: Turn): void {
    for (let place = this.#turns.length - 1; place >= 0; place--) {
      const turn = this.#turns[place];
      if (!turn || (turn.seq ?? Infinity) <= seq) return;
      const after = turnMovedUp(turn);
      if (after !== turn) this.#put(turn, after);
    }
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

function namesOf({ key, id }: Turn): string[] {
  return id === undefined ? [key] : [key, `# ${id}`];
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
