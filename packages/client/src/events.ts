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
  /** The `X-Request-Id` of the command. */
  requestId?: string;
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

/** The agent called a tool, has its result, or failed to get one. */
export interface ToolEvent extends TimelineEvent {
  kind: 'tool';
  /** The `seq` of the message. */
  replyTo: number;
  /** The id of the call. Its events have the same one. */
  id: string;
  /** The name of the tool. `spawn` is the one that spawns a child agent. */
  name: string;
  state: 'called' | 'done' | 'failed';
  /** Any JSON. */
  input?: unknown;
  /** Any JSON. */
  output?: unknown;
  error?: string;
  /** The URL of the child agent, for `spawn`. */
  url?: string;
}

/** Which command stopped a reply. */
export interface Stop {
  verb: 'interrupt' | 'archive';
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
}

/** The verbs of a control command. */
export type ControlVerb = 'interrupt' | 'pause' | 'resume' | 'archive';

/** `failing`: the agent fails and is retried. It has another status as soon as it works again. */
export type AgentStatus = 'idle' | 'running' | 'paused' | 'archived' | 'failing';

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
  /** The `X-Request-Id` of the command. */
  requestId?: string;
}

/** The agent could not read, do or record something. With `replyTo`, the turn of that message ends with it. */
export interface ErrorEvent extends TimelineEvent {
  kind: 'error';
  message: string;
  /** The `seq` of the message. */
  replyTo?: number;
  /** The `X-Request-Id` of the command. */
  requestId?: string;
}

/** The events that agents write. Others may write other kinds: a reader shows them as they are. */
export type AgentEvent =
  | SpawnedEvent
  | MessageEvent
  | WordEvent
  | ToolEvent
  | ReplyEvent
  | StatusEvent
  | RefusedEvent
  | ErrorEvent;

/** An event without its number and time, which are given when it is written. */
export type NewAgentEvent = WithoutNumber<AgentEvent>;

type WithoutNumber<E> = E extends TimelineEvent ? Omit<E, 'seq' | 'at'> : never;

/** The kinds of `AgentEvent`. */
export const EVENT_KINDS = [
  'spawned',
  'message',
  'word',
  'tool',
  'reply',
  'status',
  'refused',
  'error',
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
