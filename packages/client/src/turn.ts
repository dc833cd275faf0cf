import { textOf, type AgentEvent, type AgentStatus, type Part, type Stop } from './events.ts';
import type { MessageEvent, TimelineEvent, ToolEvent } from './events.ts';

/** The message that a turn began with. */
export interface TurnMessage {
  content: readonly Part[];
  /** The text parts of the content. */
  text: string;
  /** The `X-Request-Id` of the command. */
  requestId: string | undefined;
}

/** A call of a tool, with what is known of it so far. */
export type ToolCall = Pick<ToolEvent, 'id' | 'name' | 'state'> &
  Partial<Pick<ToolEvent, 'input' | 'output' | 'error' | 'url'>> & {
    /** How long the text of the turn was when the tool was called, so where the call belongs in it. */
    textLength: number;
  };

/**
 * `sending`: the message is on its way, which only the sender knows. `waiting`: the agent has it and has said nothing
 * yet. `writing`: it answers. The others are ends.
 */
export type TurnState =
  'sending' | 'waiting' | 'writing' | 'done' | 'stopped' | 'failed' | 'refused';

/** A message to the agent, and what came of it. */
export interface Turn {
  kind: 'turn';
  /** Unique among the items, and never changes. The id of the request, where the message has one. */
  key: string;
  /** The number of the message's event. Undefined while it is being sent. */
  seq: number | undefined;
  /** Undefined if the message is before the first event that was read. */
  message: TurnMessage | undefined;
  /** What the agent has said, so far or in the end. */
  text: string;
  tools: readonly ToolCall[];
  /** The content of the reply, once it is complete or stopped. */
  reply: readonly Part[] | undefined;
  state: TurnState;
  /** The command that stopped it. */
  stoppedBy: Stop | undefined;
  /** Why it failed or was refused. */
  error: string | undefined;
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
  /** The turns and the notes. */
  items: readonly (Turn | Note)[];
  /** `running` while a turn is open, and what the agent wrote last if it is paused, archived or failing. */
  status: AgentStatus;
  /** The number of the next event. Undefined before the first one, which may have any. */
  nextSeq: number | undefined;
  /** The latest status that the agent wrote, if it is one that stays: `paused`, `archived`, `failing`. */
  heldStatus: AgentStatus | undefined;
}

/** Whether the agent has yet to end the turn. */
export function isOpen({ state }: Pick<Turn, 'state'>): boolean {
  return state === 'sending' || state === 'waiting' || state === 'writing';
}

/** A turn of which nothing but its number is known. */
export function newTurn(key: string, seq: number, at: unknown): Turn {
  return {
    kind: 'turn',
    key,
    seq,
    message: undefined,
    text: '',
    tools: [],
    reply: undefined,
    state: 'waiting',
    stoppedBy: undefined,
    error: undefined,
    beganAt: textOrNothing(at),
    endedAt: undefined,
  };
}

export function messageOf({ content, requestId }: MessageEvent): TurnMessage {
  return {
    content: Array.isArray(content) ? content : [],
    text: textOf(content),
    requestId: textOrNothing(requestId),
  };
}

/**
 * The turn after an event of it: the same object if the event changes nothing, and undefined if it is no event of a
 * turn. Anyone with a key may append anything, so every field is looked at.
 */
export function turnAfter(turn: Turn, event: AgentEvent): Turn | undefined {
  const endedAt = textOrNothing(event.at);
  switch (event.kind) {
    case 'word':
      if (typeof event.text !== 'string') return undefined;
      return isOpen(turn) ? { ...turn, text: turn.text + event.text, state: 'writing' } : turn;
    case 'tool': {
      if (typeof event.id !== 'string' || typeof event.name !== 'string') return undefined;
      const state = isOpen(turn) ? 'writing' : turn.state;
      return { ...turn, tools: withCall(turn, event), state };
    }
    case 'reply': {
      const reply = Array.isArray(event.content) ? event.content : [];
      const end = { ...turn, reply, text: textOf(reply), error: undefined, endedAt };
      return isObject(event.stopped)
        ? { ...end, state: 'stopped', stoppedBy: event.stopped }
        : { ...end, state: 'done', stoppedBy: undefined };
    }
    case 'error':
      if (typeof event.message !== 'string') return undefined;
      return { ...turn, state: 'failed', error: event.message, endedAt };
    case 'refused':
      return { ...turn, state: 'refused', error: String(event.reason), endedAt };
    default:
      return undefined;
  }
}

function withCall({ tools, text }: Turn, event: ToolEvent): ToolCall[] {
  const { id, name, state, input, output, error, url } = event;
  const known = Object.fromEntries(
    Object.entries({ input, output, error, url }).filter(([, value]) => value !== undefined),
  );
  const place = tools.findIndex((call) => call.id === id);
  const call: ToolCall = { textLength: text.length, ...tools[place], id, name, state, ...known };
  return place === -1
    ? [...tools, call]
    : tools.map((old, index) => (index === place ? call : old));
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
