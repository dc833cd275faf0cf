import { conversation } from './conversation.ts';
import type { Stop, TimelineEvent, Usage } from './events.ts';
import { stepsOf, type RunStep, type TurnSteps } from './run-steps.ts';
import { isOpen, type Turn, type TurnState } from './turn.ts';
import { isAsking, type ToolCall } from './turn-parts.ts';

/** As a turn's, and `failing`: its last attempt failed, and it is tried again. */
export type RunState = TurnState | 'failing';

/** A call of a tool that waits for a person. */
export interface WaitingCall {
  /** The id of the call, which `decide` takes. */
  call: string;
  /** The name of the tool. */
  name: string;
  /** What the tool would get. Any JSON. */
  input: unknown;
  /** Since when, as ISO 8601. */
  since: string | undefined;
}

/** What an agent did for one message: the turn, with its times. Times are ISO 8601. */
export interface Run {
  /** `type/id`. */
  agent: string;
  /** Unique among the runs of the agent. */
  key: string;
  /** The name of the turn, which `stop` takes. */
  id: string | undefined;
  /** The number of the message's event. Undefined for a message that the agent could not record. */
  seq: number | undefined;
  /** The text of the message. */
  message: string;
  state: RunState;
  /** When the message came. */
  askedAt: string | undefined;
  /** When the agent began with it. Undefined while other turns are before it. */
  beganAt: string | undefined;
  endedAt: string | undefined;
  /** From its begin to its end. Undefined until it has ended. */
  durationMs: number | undefined;
  /** How often it was tried: 1 if nothing failed, 0 if it has not begun. */
  attempts: number;
  /** In the order of their begins. Calls of one step overlap. */
  steps: readonly RunStep[];
  /** The calls that wait for a person. */
  waiting: readonly WaitingCall[];
  /** Why it failed or was refused, or why its last attempt failed: what readers of the timeline may know. */
  error: string | undefined;
  /** The error as Restate or the agent's state has it, with its stack. It may quote anything, so no user should see it. */
  detail: string | undefined;
  /** When the next attempt is, where Restate knows it. */
  nextTryAt: string | undefined;
  stoppedBy: Stop | undefined;
  usage: Usage | undefined;
}

/** The runs of an agent, `type/id`, from the events of its timeline, oldest first. */
export function runsOf(agent: string, events: readonly TimelineEvent[]): Run[] {
  const stepsByTurn = stepsOf(events);
  return conversation(events).turns.map((turn) =>
    runOf(agent, turn, stepsByTurn.get(turn.seq ?? -1) ?? NOTHING),
  );
}

const NOTHING: TurnSteps = { steps: [], beganAt: undefined, failures: 0, failing: undefined };

function runOf(agent: string, turn: Turn, { steps, beganAt, failures, failing }: TurnSteps): Run {
  const { key, id, seq, message, state, error, stoppedBy, usage, endedAt } = turn;
  const isFailing = failing !== undefined && isOpen(turn);
  return {
    agent,
    key,
    id,
    seq,
    message: message?.text ?? '',
    state: isFailing ? 'failing' : state,
    askedAt: message ? turn.beganAt : undefined,
    beganAt,
    endedAt,
    durationMs: msBetween(beganAt, endedAt),
    attempts: beganAt === undefined ? 0 : failures + (isFailing ? 0 : 1),
    steps,
    waiting: turn.tools.filter(isAsking).map((call) => waitingCall(call, steps)),
    error: error ?? (isFailing ? failing : undefined),
    detail: undefined,
    nextTryAt: undefined,
    stoppedBy,
    usage,
  };
}

function waitingCall({ id: call, name, input }: ToolCall, steps: readonly RunStep[]): WaitingCall {
  const step = steps.findLast((one) => one.kind === 'person' && one.call === call);
  return { call, name, input, since: step?.beganAt };
}

function msBetween(from: string | undefined, to: string | undefined): number | undefined {
  const ms = Date.parse(to ?? '') - Date.parse(from ?? '');
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
