import { TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import { describe, request } from './gateway-client.ts';
import type { Answer, GatewayAccess } from './gateway-client.ts';
import { checkedPath } from '../path.ts';
import { traceOf } from './trace.ts';

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
}

/** The parts of Restate's context that the writer uses. */
export type Journal = Pick<ObjectContext, 'run' | 'date' | 'request'>;

type Outcome = 'appended' | 'forgotten' | { refusal: number; why: string };

/** Statuses for an event that the server refuses, because it is too large or malformed. */
const EVENT_AT_FAULT = [400, 413, 415, 422];

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
  const { attemptCompletedSignal } = journal.request();
  const refusal = await journal.run('create timeline', async () => {
    const init = { method: 'PUT', headers: headers(access, journal) };
    const answer = await request(streamUrl(access, stream), init, attemptCompletedSignal);
    return isSuccess(answer) ? null : describe(answer);
  });
  if (refusal !== null) throw new TerminalError(`${stream} cannot be created: ${refusal}`);
}

/**
 * Appends the unsent events in order, each exactly once. The caller has stored `unsent` before, and `save` stores
 * it again after every event. After a crash at any point the event is still in `unsent` or in the journal, with the
 * same number. The number is also its Producer-Seq, with which the server recognizes and drops a repeated append.
 * This holds even if an operator kills the invocation: the next one first sends the unsent events.
 */
export async function sendUnsent(
  journal: Journal,
  access: GatewayAccess,
  timeline: Timeline,
  save: () => void,
): Promise<void> {
  const { attemptCompletedSignal } = journal.request();
  for (let event = timeline.unsent[0]; event; event = timeline.unsent[0]) {
    // The time comes from the journal, so that a replay sends the same bytes. Waiting for it also
    // makes sure that Restate has stored `unsent` before the append can be seen by anyone.
    const at = await journal.date.toJSON();
    const line = JSON.stringify({ seq: timeline.nextSeq, at, ...event });
    const outcome = await journal.run(`append ${event.kind}`, () =>
      append(access, timeline, line, headers(access, journal), attemptCompletedSignal),
    );
    settle(timeline, event, outcome);
    save();
  }
}

async function append(
  access: GatewayAccess,
  timeline: Timeline,
  line: string,
  ownHeaders: Record<string, string>,
  attemptEnded: AbortSignal,
): Promise<Outcome> {
  const producerSeq = timeline.nextSeq - timeline.epochStartSeq;
  const init = {
    method: 'POST',
    body: line,
    headers: {
      ...ownHeaders,
      'producer-id': 'agent',
      'producer-epoch': String(timeline.epoch),
      'producer-seq': String(producerSeq),
    },
  };
  const answer = await request(streamUrl(access, timeline.stream), init, attemptEnded);
  if (isSuccess(answer)) {
    // 204 means that the stream already has this number. Only our newest event can be a repetition.
    const newestSeq = Number(answer.headers.get('producer-seq') ?? producerSeq);
    if (newestSeq === producerSeq) return 'appended';
    return { refusal: 409, why: `the stream already holds events up to number ${newestSeq}` };
  }
  // A server may forget a producer that was quiet for long (the in-memory one after seven days). It then expects
  // number 0, so the writer begins a new epoch.
  if (answer.headers.get('producer-expected-seq') === '0' && producerSeq > 0) return 'forgotten';
  if (answer.status === 404 && (await isThere(access, timeline.stream, ownHeaders, attemptEnded))) {
    // The store temporarily lost the stream's file, and the event may be stored. Restate runs the step again.
    throw new Error(`${timeline.stream}: ${describe(answer)}, and yet it is there`);
  }
  return { refusal: answer.status, why: describe(answer) };
}

/** Throws an Error if this cannot be known at the moment. */
async function isThere(
  access: GatewayAccess,
  stream: string,
  ownHeaders: Record<string, string>,
  attemptEnded: AbortSignal,
): Promise<boolean> {
  const init = { method: 'HEAD', headers: ownHeaders };
  const { status } = await request(streamUrl(access, stream), init, attemptEnded);
  return status !== 404;
}

function settle(timeline: Timeline, event: NewEvent, outcome: Outcome): void {
  if (outcome === 'appended') {
    timeline.unsent.shift();
    timeline.nextSeq += 1;
  } else if (outcome === 'forgotten') {
    timeline.epoch += 1;
    timeline.epochStartSeq = timeline.nextSeq;
  } else if (EVENT_AT_FAULT.includes(outcome.refusal) && event.kind !== 'error') {
    // No event has this number, so an error event takes it. The reader then sees that an event is missing.
    // Without its reply a turn would have no end.
    const ofTurn = event.kind === 'reply' ? { replyTo: event.replyTo } : {};
    const message = `${event.kind} not recorded: ${outcome.why}`;
    timeline.unsent[0] = { kind: 'error', message, ...ofTurn };
  } else {
    throw new TerminalError(`${timeline.stream} refuses events: ${outcome.why}`);
  }
}

function headers(access: GatewayAccess, journal: Journal): Record<string, string> {
  return {
    ...traceOf(journal),
    authorization: `Bearer ${access.apiKey}`,
    'content-type': 'application/json',
  };
}

function streamUrl(access: GatewayAccess, stream: string): string {
  return `${access.streamsUrl ?? `${access.gatewayUrl}/streams`}${checkedPath(stream)}`;
}

function isSuccess(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300;
}
