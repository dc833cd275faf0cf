/** A part of a message or of a reply: a text, or any other JSON object with a `type`. */
export type Part = TextPart | { type: string; [name: string]: unknown };

/** A text in a message or a reply. */
export interface TextPart {
  type: 'text';
  text: string;
}

/** What every event of a timeline has. */
export interface TimelineEvent {
  /** The number of the event: 0, 1, 2 … without a gap. */
  seq: number;
  /** The time of writing, as ISO 8601 in UTC. */
  at: string;
  kind: string;
}

/** The first event of an agent. */
export interface SpawnedEvent extends TimelineEvent {
  kind: 'spawned';
  /** The arguments of the spawn, any JSON. */
  args?: unknown;
  /** The URL of the agent that spawned this one. */
  parent?: string;
  workspaceRef?: string;
}

/** A message arrived. */
export interface MessageEvent extends TimelineEvent {
  kind: 'message';
  content: Part[];
  /** The name of the turn: the invocation id of the command. Agents that are not made with the library may have none. */
  invocationId?: string;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
  /** How many turns are before it. Absent for none. */
  ahead?: number;
  /** The URL of the agent that waits for the reply. */
  caller?: string;
}

/** A piece of a reply, as it comes. The pieces are joined as they are: each brings its own spaces. */
export interface WordEvent extends TimelineEvent {
  kind: 'word';
  /** The `seq` of the message. */
  replyTo: number;
  /** The number of the piece in its reply: 0, 1, 2 … */
  index: number;
  text: string;
}

/** What the model thought, as it comes. */
export interface ReasoningEvent extends TimelineEvent {
  kind: 'reasoning';
  /** The `seq` of the message. */
  replyTo: number;
  text: string;
}

/** Data of the agent for its application. */
export interface DataEvent extends TimelineEvent {
  kind: 'data';
  /** The `seq` of the message. */
  replyTo: number;
  /** Any JSON. */
  data: unknown;
}

/**
 * A call of a tool. `waiting`: for a person's decision. `called`: it runs, or the agent of `url` works on it. The others are its ends.
 */
export interface ToolEvent extends TimelineEvent {
  kind: 'tool';
  /** The `seq` of the message. */
  replyTo: number;
  /** The id of the call. Its events have the same one. */
  id: string;
  /** The name of the tool. `spawn` is the one that spawns a child agent. */
  name: string;
  state: 'waiting' | 'called' | 'done' | 'failed' | 'denied';
  /** Any JSON. */
  input?: unknown;
  /** Any JSON. */
  output?: unknown;
  error?: string;
  /** The URL of the child agent, for `spawn` and for a tool that is an agent. */
  url?: string;
}

/** Somebody decided a call that waited. */
export interface DecisionEvent extends TimelineEvent {
  kind: 'decision';
  /** The `seq` of the message. */
  replyTo: number;
  /** The id of the call. */
  call: string;
  approved: boolean;
  /** Who decided, as the application's back end says. */
  by?: string;
  note?: string;
  /** The input that the approver changed. */
  input?: unknown;
  /** Nobody decided in time. */
  expired?: true;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
}

/** What a turn used, summed up over its calls of the model. Other numbers that the agent counts are in it, too. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  /** In the currency of the agent's author. */
  cost?: number;
  [name: string]: number | undefined;
}

/** Which command stopped a reply. `withdraw` is for a message that was still waiting. */
export interface Stop {
  verb: 'interrupt' | 'archive' | 'stop' | 'withdraw';
  reason?: string;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
}

/** A reply is complete, or was stopped. `content` is what the agent said, all of it or until then. */
export interface ReplyEvent extends TimelineEvent {
  kind: 'reply';
  /** The `seq` of the message. */
  replyTo: number;
  content: Part[];
  stopped?: Stop;
  usage?: Usage;
}

/** The verbs of a control command. */
export type ControlVerb = 'interrupt' | 'pause' | 'resume' | 'archive';

/** Every verb of a control command. */
export const CONTROL_VERBS: readonly ControlVerb[] = Object.keys({
  interrupt: true,
  pause: true,
  resume: true,
  archive: true,
} satisfies Record<ControlVerb, true>) as ControlVerb[];

/**
 * `waiting`: for a person's decision. `failing`: the agent fails and is retried; it has another status as soon as it works again.
 * `failed`: the last turn failed for good, until the next good reply.
 */
export type AgentStatus =
  'idle' | 'running' | 'waiting' | 'paused' | 'archived' | 'failing' | 'failed';

/** A verb was applied, or the agent fails and is retried, or it works again. */
export interface StatusEvent extends TimelineEvent {
  kind: 'status';
  status: AgentStatus;
  /** The verb that was applied. */
  verb?: ControlVerb;
  reason?: string;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
  /** For `failing`: the number of the attempt that failed. */
  attempt?: number;
}

/** The agent refused a command. */
export interface RefusedEvent extends TimelineEvent {
  kind: 'refused';
  reason: 'archived' | 'inbox full' | (string & {});
  /** The invocation id of the command. */
  invocationId?: string;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
}

/** The agent could not read, do or record something. With `replyTo`, the turn of that message ends with it. */
export interface ErrorEvent extends TimelineEvent {
  kind: 'error';
  message: string;
  /** The `seq` of the message. */
  replyTo?: number;
  /** The invocation id of the command. */
  invocationId?: string;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
  usage?: Usage;
}

/** The store and the agent knew different timelines, because one of them was restored. It continues from here. */
export interface RestoredEvent extends TimelineEvent {
  kind: 'restored';
  /** The number that the agent expected to be the next one. */
  expected: number;
  /** The number that the timeline had next. Where it is lower, events are missing; where it is higher, some may come twice. */
  found: number;
}

/** Where a turn begins, for an `ask` that is repeated. */
export interface LocatedEvent extends TimelineEvent {
  kind: 'located';
  invocationId: string;
  /** The offset before the event of the message. Absent where the agent does not know it any more. */
  offset?: string;
}

/** The events that agents write. Others may write other kinds: a reader shows them as they are. */
export type AgentEvent =
  | SpawnedEvent
  | MessageEvent
  | WordEvent
  | ReasoningEvent
  | DataEvent
  | ToolEvent
  | DecisionEvent
  | ReplyEvent
  | StatusEvent
  | RefusedEvent
  | ErrorEvent
  | RestoredEvent
  | LocatedEvent;

/** An event without its number and time, which are given when it is written. */
export type NewAgentEvent = WithoutNumber<AgentEvent>;

type WithoutNumber<E> = E extends TimelineEvent ? Omit<E, 'seq' | 'at'> : never;

/** The kinds of `AgentEvent`. */
export const EVENT_KINDS = [
  'spawned',
  'message',
  'word',
  'reasoning',
  'data',
  'tool',
  'decision',
  'reply',
  'status',
  'refused',
  'error',
  'restored',
  'located',
] as const satisfies AgentEvent['kind'][];

/** The text parts of a content, a line each. A content that is no list has none. */
export function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return (content as unknown[]).flatMap((part) => (isText(part) ? [part.text] : [])).join('\n');
}

function isText(part: unknown): part is TextPart {
  const { type, text } = (part ?? {}) as Record<string, unknown>;
  return type === 'text' && typeof text === 'string';
}
