import { textOf, type AgentEvent, type AgentStatus, type Part, type Stop } from './events.ts';
import type { MessageEvent, TimelineEvent, Usage } from './events.ts';
import { callsOf, isAsking, withCall, withDecision, withText, withWhole } from './turn-parts.ts';
import type { ToolCall, TurnPart } from './turn-parts.ts';

/** The message that a turn began with. */
export interface TurnMessage {
  content: readonly Part[];
  /** The text parts of the content. */
  text: string;
  /** The `X-Request-Id` of the command. */
  requestId: string | undefined;
}

/**
 * `sending`: the message is on its way, which only the sender knows. `queued`: the agent has it, and another turn is before
 * it. `waiting`: it is the next one, and the agent has said nothing yet. `writing`: the agent answers. `asking`: a call of a
 * tool waits for a person's decision. The others are ends.
 */
export type TurnState =
  | 'sending'
  | 'queued'
  | 'waiting'
  | 'writing'
  | 'asking'
  | 'done'
  | 'stopped'
  | 'failed'
  | 'refused';

/** A message to the agent, and what came of it. */
export interface Turn {
  kind: 'turn';
  /** Unique among the items, and never changes. The id of the request, where the message has one. */
  key: string;
  /**
   * The name of the turn: the invocation id of its command, which `stop` and `withdraw` take. No two turns have the same.
   * Undefined for agents that do not write it.
   */
  id: string | undefined;
  /** The number of the message's event, which is only a place. Undefined while it is being sent. */
  seq: number | undefined;
  /** Undefined if the message is before the first event that was read. */
  message: TurnMessage | undefined;
  /** The answer in order: texts, reasoning, calls of tools with their decisions, data. */
  parts: readonly TurnPart[];
  /** What the agent has said, so far or in the end: all texts of the parts. */
  text: string;
  /** The calls of tools among the parts. */
  tools: readonly ToolCall[];
  /** The content of the reply, once it is complete or stopped. */
  reply: readonly Part[] | undefined;
  state: TurnState;
  /** How many turns are still before it, while it is `queued`. */
  ahead: number;
  /** The command that stopped it. */
  stoppedBy: Stop | undefined;
  /** Why it failed or was refused. */
  error: string | undefined;
  /** What it used, once it has ended and where the agent counts. */
  usage: Usage | undefined;
  /** The times of its first event and of its end, as ISO 8601. */
  beganAt: string | undefined;
  endedAt: string | undefined;
}

/** Anything else that happened, in its place: an event of no turn, of an unknown kind, or numbers that are missing. */
export interface Note {
  kind: 'note';
  /** Unique among the items, and never changes. */
  key: string;
  /** The kind of the event, or `gap`. */
  what: string;
  /** The event as it is. Undefined for a gap. */
  event: TimelineEvent | undefined;
  /** The first and the last number that is missing. */
  gap: readonly [first: number, last: number] | undefined;
}

/** A timeline as what was said. It is plain data. */
export interface Conversation {
  /** The turns, in the order of their messages. */
  turns: readonly Turn[];
  /** The turns that wait for others to end, the next one first. */
  queued: readonly Turn[];
  /** The turns and the notes. */
  items: readonly (Turn | Note)[];
  /**
   * What the agent wrote last if it is `paused`, `archived` or `failing`. Otherwise `waiting` while a call waits for a
   * person's decision, `running` while another turn is open, and `failed` if the last turn failed for good.
   */
  status: AgentStatus;
  /** The number of the next event. Undefined before the first one, which may have any. */
  nextSeq: number | undefined;
  /** The latest status, if it is one that stays: `paused`, `archived`, `failing`, `failed`. */
  heldStatus: AgentStatus | undefined;
}

/** Whether the agent has yet to end the turn. */
export function isOpen({ state }: Pick<Turn, 'state'>): boolean {
  return state === 'sending' || state === 'queued' || state === 'waiting' || hasBegun({ state });
}

/** Whether the agent answers, or waits for a person in the middle of its answer. */
export function hasBegun({ state }: Pick<Turn, 'state'>): boolean {
  return state === 'writing' || state === 'asking';
}

/** A turn of which nothing but its number is known. */
export function newTurn(key: string, seq: number, at: unknown): Turn {
  return {
    kind: 'turn',
    key,
    id: undefined,
    seq,
    message: undefined,
    parts: [],
    text: '',
    tools: [],
    reply: undefined,
    state: 'waiting',
    ahead: 0,
    stoppedBy: undefined,
    error: undefined,
    usage: undefined,
    beganAt: textOrNothing(at),
    endedAt: undefined,
  };
}

/** The turn that begins with a message. */
export function turnOf(key: string, event: MessageEvent): Turn {
  const { seq, at, content, requestId, invocationId, ahead } = event;
  const turn: Turn = {
    ...newTurn(key, seq, at),
    id: textOrNothing(invocationId),
    message: {
      content: Array.isArray(content) ? content : [],
      text: textOf(content),
      requestId: textOrNothing(requestId),
    },
  };
  const isBehind = Number.isSafeInteger(ahead) && Number(ahead) > 0;
  return isBehind ? { ...turn, state: 'queued', ahead: Number(ahead) } : turn;
}

/** The turn when one that was before it has ended. */
export function turnMovedUp(turn: Turn): Turn {
  if (turn.state !== 'queued') return turn;
  const ahead = turn.ahead - 1;
  return { ...turn, ahead, ...(ahead === 0 && { state: 'waiting' }) };
}

/**
 * The turn after an event of it: the same object if the event changes nothing, and undefined if it is no event of a
 * turn, as another end is none. Anyone with a key may append anything, so every field is looked at.
 */
export function turnAfter(turn: Turn, event: AgentEvent): Turn | undefined {
  const { parts, text } = turn;
  switch (event.kind) {
    case 'word':
    case 'reasoning': {
      if (typeof event.text !== 'string') return undefined;
      if (!isOpen(turn)) return turn;
      const isText = event.kind === 'word';
      const more = withText(parts, isText ? 'text' : 'reasoning', event.text);
      return withParts({ ...turn, text: isText ? text + event.text : text }, more);
    }
    case 'data':
      return withParts(turn, [...parts, { type: 'data', data: event.data }]);
    case 'tool':
      return withParts(turn, withCall(parts, event, text.length));
    case 'decision':
      return withParts(turn, withDecision(parts, event));
    case 'reply':
    case 'error':
    case 'refused':
      if (isOpen(turn)) return turnEnded(turn, event);
      return isSameEnd(turn, event) ? turn : undefined;
    default:
      return undefined;
  }
}

function withParts(turn: Turn, parts: readonly TurnPart[] | undefined): Turn | undefined {
  if (!parts) return undefined;
  const tools = callsOf(parts);
  if (!isOpen(turn)) return { ...turn, parts, tools };
  return { ...turn, parts, tools, ahead: 0, state: parts.some(isAsking) ? 'asking' : 'writing' };
}

type EndEvent = AgentEvent & { kind: 'reply' | 'error' | 'refused' };

/** After a restore an agent may write an end once more. */
function isSameEnd({ state, text, error }: Turn, event: EndEvent): boolean {
  if (event.kind === 'reply') {
    return (
      state === (isObject(event.stopped) ? 'stopped' : 'done') && text === textOf(event.content)
    );
  }
  if (event.kind === 'error') return state === 'failed' && error === event.message;
  return state === 'refused' && error === inWords(event.reason);
}

function turnEnded(turn: Turn, event: EndEvent): Turn | undefined {
  const end = { ...turn, ahead: 0, endedAt: textOrNothing(event.at) };
  if (event.kind === 'refused') return { ...end, state: 'refused', error: inWords(event.reason) };
  const usage = isObject(event.usage) ? event.usage : undefined;
  if (event.kind === 'error') {
    if (typeof event.message !== 'string') return undefined;
    return { ...end, state: 'failed', error: event.message, usage };
  }
  const reply = Array.isArray(event.content) ? event.content : [];
  const whole = textOf(reply);
  const parts = withWhole(turn.parts, turn.text, whole);
  const said = { ...end, reply, text: whole, parts, usage };
  return isObject(event.stopped)
    ? { ...said, state: 'stopped', stoppedBy: stopOf(event.stopped) }
    : { ...said, state: 'done' };
}

/** A stop whose verb is no text says nothing that a reader could show. */
function stopOf(stopped: Stop): Stop | undefined {
  const { reason, ...stop } = stopped;
  if (typeof stop.verb !== 'string') return undefined;
  return typeof reason === 'string' ? { ...stop, reason } : stop;
}

/** `String` throws for an object like `{"toString": 1}`. */
export function inWords(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? 'no reason given';
  } catch {
    // It is nested more deeply than it can be written.
    return 'no reason given';
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
