import { TerminalError } from '@restatedev/restate-sdk';
import type { ObjectContext } from '@restatedev/restate-sdk';
import { describe, request } from './gateway-client.ts';
import type { Answer, GatewayAccess } from './gateway-client.ts';
import type { Json } from './json.ts';

/** An event before it has a number and a time. */
export type NewEvent = { kind: string; [name: string]: Json | undefined };

/** What an entity remembers of its timeline, in its Restate state. */
export interface Timeline {
  /** The path below `/streams`. */
  stream: string;
  /** The number of the next event: 0, 1, 2 … without a gap. */
  nextSeq: number;
  /** Events that are decided but not yet known to be on the stream, the oldest first. */
  unsent: NewEvent[];
  /** Producer-Epoch, and the event that had Producer-Seq 0 in it. */
  epoch: number;
  epochStartSeq: number;
}

/** What the writer needs of Restate. */
export type Journal = Pick<ObjectContext, 'run' | 'date' | 'request'>;

type Outcome = 'appended' | 'forgotten' | { refusal: number; why: string };

/** The event itself is what the server refuses, be it too large or malformed. */
const EVENT_AT_FAULT = [400, 413, 415, 422];

export function newTimeline(stream: string): Timeline {
  return { stream, nextSeq: 0, unsent: [], epoch: 0, epochStartSeq: 0 };
}

/** Creates the stream; one that is there already stays as it is. */
export async function createTimeline(
  journal: Journal,
  access: GatewayAccess,
  stream: string,
): Promise<void> {
  const { attemptCompletedSignal } = journal.request();
  const refusal = await journal.run('create timeline', async () => {
    const init = { method: 'PUT', headers: headers(access) };
    const answer = await request(streamUrl(access, stream), init, attemptCompletedSignal);
    return isSuccess(answer) ? null : describe(answer);
  });
  if (refusal !== null) throw new TerminalError(`${stream} cannot be created: ${refusal}`);
}

/**
 * Appends what is unsent, in order, each event exactly once.
 *
 * The caller has stored `unsent` before; `save` stores it again after every event. A crash at any
 * point leaves the event in `unsent`, or in the journal, with the same number. The number is its
 * Producer-Seq too, by which the server knows a repeated append and drops it. That holds even when
 * an operator kills the invocation: the next one begins by sending what is left.
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
      append(access, timeline, line, attemptCompletedSignal),
    );
    settle(timeline, event, outcome);
    save();
  }
}

async function append(
  access: GatewayAccess,
  timeline: Timeline,
  line: string,
  attemptEnded: AbortSignal,
): Promise<Outcome> {
  const producerSeq = timeline.nextSeq - timeline.epochStartSeq;
  const init = {
    method: 'POST',
    body: line,
    headers: {
      ...headers(access),
      'producer-id': 'agent',
      'producer-epoch': String(timeline.epoch),
      'producer-seq': String(producerSeq),
    },
  };
  const answer = await request(streamUrl(access, timeline.stream), init, attemptEnded);
  if (isSuccess(answer)) {
    // 204: this number is on the stream already. Only the newest one can be a repetition of ours.
    const newestSeq = Number(answer.headers.get('producer-seq') ?? producerSeq);
    if (newestSeq === producerSeq) return 'appended';
    return { refusal: 409, why: `the stream already holds events up to number ${newestSeq}` };
  }
  // A server may forget a producer that was quiet for long (the in-memory one does after seven
  // days). It then expects number 0, which a next epoch begins with.
  if (answer.headers.get('producer-expected-seq') === '0' && producerSeq > 0) return 'forgotten';
  if (answer.status === 404 && (await isThere(access, timeline.stream, attemptEnded))) {
    // The store lost its hold of the stream for a moment; the event may be there. Restate runs the step again.
    throw new Error(`${timeline.stream}: ${describe(answer)}, and yet it is there`);
  }
  return { refusal: answer.status, why: describe(answer) };
}

/** Throws an Error where nobody can tell just now. */
async function isThere(
  access: GatewayAccess,
  stream: string,
  attemptEnded: AbortSignal,
): Promise<boolean> {
  const init = { method: 'HEAD', headers: headers(access) };
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
    // Nothing took this number, so an error takes it: the reader sees that something is missing.
    timeline.unsent[0] = { kind: 'error', message: `${event.kind} not recorded: ${outcome.why}` };
  } else {
    throw new TerminalError(`${timeline.stream} refuses events: ${outcome.why}`);
  }
}

function headers(access: GatewayAccess): Record<string, string> {
  return { authorization: `Bearer ${access.apiKey}`, 'content-type': 'application/json' };
}

function streamUrl(access: GatewayAccess, stream: string): string {
  return `${access.streamsUrl ?? `${access.gatewayUrl}/streams`}${stream}`;
}

function isSuccess(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300;
}
