import { TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { GatewayAccess } from './gateway-client.ts';
import { HistoryStore, type AppendOutcome, type Tail } from './history-store.ts';

/** An event without its number and time: one of `NewAgentEvent`, or any other JSON object with a `kind`. */
export type NewEvent = { kind: string; [name: string]: unknown };

/** An entity's state of its timeline, stored in Restate. */
export interface Timeline {
  /** The path below `/streams`. */
  stream: string;
  /** The number of the next event: 0, 1, 2 … without a gap. */
  nextSeq: number;
  /** Events that may not be on the stream yet, oldest first. */
  unsent: NewEvent[];
  /** The Producer-Epoch, and the event that had Producer-Seq 0 in it. */
  epoch: number;
  epochStartSeq: number;
  /** The offset after the last event, if it is known. */
  offset?: string;
}

/** The parts of Restate's context that the writer uses. */
export type Journal = Pick<ObjectContext, 'run' | 'date' | 'request'>;

/** The store knew other events than the agent. */
export interface Adoption {
  /** The number that was the next one to the agent. */
  expected: number;
  tail: Tail;
}

/** What the owner of a timeline does while its events are sent. */
export interface TimelineOwner {
  /** Stores the state that has the timeline. */
  save: () => void;
  /** An event is on the stream. `before` is the offset before it. */
  appended?: (event: NewEvent, place: { seq: number; at: string; before?: string }) => void;
  /** An event can never be on the stream, and an error event takes its place. */
  refused?: (event: NewEvent) => void;
  /**
   * The timeline continues at the end of the store. Gives the messages that are not on it any more and are still to be answered, with
   * their old numbers.
   */
  adopted?: (adoption: Adoption) => Promise<{ seq: number; event: NewEvent }[]>;
  /** Messages have other numbers now. */
  renumbered?: (numbers: ReadonlyMap<number, number>) => void;
}

/** A timeline without events. `stream` is the path of its stream. */
export function newTimeline(stream: string): Timeline {
  return { stream, nextSeq: 0, unsent: [], epoch: 0, epochStartSeq: 0 };
}

/** Creates the stream. An existing stream stays as it is. */
export async function createTimeline(
  journal: Journal,
  access: GatewayAccess,
  stream: string,
): Promise<void> {
  const store = new HistoryStore(journal, access, stream);
  const refusal = await journal.run('create timeline', () => store.create());
  if (refusal !== null) throw new TerminalError(`${stream} cannot be created: ${refusal}`);
}

/**
 * Appends the unsent events in order, each exactly once. The owner has stored `unsent` before, and stores it again after
 * every event. After a crash at any point the event is still in `unsent` or in the journal, with the same number. The number
 * is also its Producer-Seq, with which the server recognizes and drops a repeated append. This holds even if an operator kills
 * the invocation: the next one first sends the unsent events.
 */
export async function sendUnsent(
  journal: Journal,
  access: GatewayAccess,
  timeline: Timeline,
  owner: TimelineOwner,
): Promise<void> {
  const store = new HistoryStore(journal, access, timeline.stream);
  for (let event = timeline.unsent[0]; event; event = timeline.unsent[0]) {
    // The time comes from the journal, so that a replay sends the same bytes. Waiting for it also makes sure that Restate has
    // stored `unsent`, and a new epoch, before the append can be seen by anyone.
    const at = await journal.date.toJSON();
    const { nextSeq: seq, offset: before } = timeline;
    const append = {
      line: JSON.stringify({ seq, at, ...event }),
      seq,
      epoch: timeline.epoch,
      producerSeq: seq - timeline.epochStartSeq,
      ...(before !== undefined && { after: before }),
    };
    const outcome = await journal.run(`append ${event.kind}`, () => store.append(append));
    if ('appended' in outcome) {
      timeline.unsent.shift();
      timeline.nextSeq += 1;
      timeline.offset = outcome.appended;
      owner.appended?.(event, { seq, at, ...(before !== undefined && { before }) });
    } else if ('refusal' in outcome) {
      replaceRefused(timeline, event, outcome.refusal);
      owner.refused?.(event);
    } else {
      await adopt(journal, store, timeline, owner, outcome);
    }
    owner.save();
  }
}

/** No event has this number, so an error event takes it: a reader sees that an event is missing, and a turn or a command its end. */
function replaceRefused(timeline: Timeline, event: NewEvent, refusal: string): void {
  if (event.kind === 'error')
    throw new TerminalError(`${timeline.stream} refuses events: ${refusal}`);
  const { kind, replyTo, invocationId, requestId } = event;
  const names = {
    ...(kind === 'reply' && { replyTo }),
    ...(kind === 'message' && invocationId !== undefined && { invocationId }),
    ...(kind === 'message' && requestId !== undefined && { requestId }),
  };
  timeline.unsent[0] = { kind: 'error', message: `${kind} not recorded: ${refusal}`, ...names };
}

/** Continues after what the store has, under a new epoch, and says what is missing or may come twice. */
async function adopt(
  journal: Journal,
  store: HistoryStore,
  timeline: Timeline,
  owner: TimelineOwner,
  outcome: Exclude<AppendOutcome, { appended: string } | { refusal: string }>,
): Promise<void> {
  if ('closed' in outcome) {
    throw new TerminalError(`The timeline cannot be written any more: ${outcome.closed}.`);
  }
  const { nextSeq: expected, offset } = timeline;
  if ('missing' in outcome) await createAgain(journal, store);
  const tail = await journal.run('read the end of the timeline', () =>
    store.tail('missing' in outcome ? undefined : offset, expected),
  );
  const known = 'differs' in outcome ? (outcome.differs.epoch ?? 0) : 0;
  timeline.epoch = Math.max(timeline.epoch, known) + 1;
  timeline.nextSeq = tail.nextSeq;
  timeline.epochStartSeq = tail.nextSeq;
  timeline.offset = tail.offset;
  if (tail.nextSeq === expected) return;
  const again = (await owner.adopted?.({ expected, tail })) ?? [];
  const unsent = timeline.unsent.filter((event) => !isThere(event, tail));
  const restored = { kind: 'restored', expected, found: tail.nextSeq };
  const numbers = new Map<number, number>();
  for (const [index, { seq }] of again.entries()) numbers.set(seq, tail.nextSeq + 1 + index);
  for (const [index, event] of timeline.unsent.entries()) {
    const number = tail.nextSeq + 1 + again.length + unsent.indexOf(event);
    numbers.set(expected + index, tail.messages[String(event.invocationId)] ?? number);
  }
  timeline.unsent = [restored, ...again.map(({ event }) => event), ...unsent];
  for (const event of timeline.unsent) {
    const number = numbers.get(event.replyTo as number);
    if (number !== undefined) event.replyTo = number;
  }
  owner.renumbered?.(numbers);
}

async function createAgain(journal: Journal, store: HistoryStore): Promise<void> {
  const refusal = await journal.run('create timeline again', () => store.create());
  if (refusal !== null)
    throw new TerminalError(`The timeline was deleted and cannot be created again: ${refusal}`);
}

/** Whether the store has a message, or the end of a turn, that the agent has not sent as far as it knows. */
function isThere({ kind, invocationId, replyTo }: NewEvent, { messages, ended }: Tail): boolean {
  if (kind === 'message') return String(invocationId) in messages;
  return (kind === 'reply' || kind === 'error') && ended.includes(replyTo as number);
}
