import type { DynamicToolUIPart, FileUIPart, ReasoningUIPart, TextUIPart, UIMessage } from 'ai';
import { isOpen, type Stop, type ToolCall, type Turn, type TurnPart } from '@agent-gateway/client';

/** What is known of an answer besides its parts. */
export interface AgentMessageMetadata {
  state: Turn['state'];
  /** The command that stopped it. */
  stoppedBy?: Stop;
  /** Why it failed or was refused. */
  error?: string;
  /** The times of its first event and of its end, as ISO 8601. */
  beganAt?: string;
  endedAt?: string;
}

/** A message of `useChat` that shows a turn of an agent. */
export type AgentMessage = UIMessage<AgentMessageMetadata>;

export type AnswerPart =
  TextUIPart | ReasoningUIPart | DynamicToolUIPart | FileUIPart | AgentDataPart;

/** Data of the agent for its page. */
export interface AgentDataPart {
  type: 'data-agent';
  /** Any JSON. */
  data: unknown;
}

/**
 * Turns as the messages of `useChat`, two for each: the user's, whose id is the key of the turn, and the answer, which
 * is empty while the agent has said nothing.
 */
export function uiMessages(turns: readonly Turn[]): AgentMessage[] {
  return turns.flatMap((turn) => {
    const { key, message } = turn;
    const answer = {
      id: answerId(turn),
      role: 'assistant' as const,
      metadata: metadataOf(turn),
      parts: partsOf(turn),
    };
    if (!message) return [answer];
    return [{ id: key, role: 'user' as const, parts: contentOf(message.content) }, answer];
  });
}

/** The texts and files of a message, which `useChat` and the gateway write alike. */
export function contentOf(parts: readonly { type: string }[]): (TextUIPart | FileUIPart)[] {
  return parts.flatMap((part): (TextUIPart | FileUIPart)[] => {
    if (isFile(part)) return [part];
    const { type, text } = part as Partial<TextUIPart>;
    return type === 'text' && typeof text === 'string' ? [{ type, text }] : [];
  });
}

/** The same for a turn in every tab and after every reload. */
export function answerId({ id, key, seq }: Turn): string {
  return `answer-${id ?? seq ?? key}`;
}

export function metadataOf({ state, ...turn }: Turn): AgentMessageMetadata {
  const { stoppedBy, error, beganAt, endedAt } = turn;
  const known = Object.entries({ stoppedBy, error, beganAt, endedAt }).filter(([, value]) => value);
  return { state, ...Object.fromEntries(known) };
}

/** The parts of an answer in order. While the turn is open, the last one grows and new ones follow. */
export function partsOf(turn: Turn): AnswerPart[] {
  const isOver = !isOpen(turn);
  const last = isOver ? undefined : turn.parts.at(-1);
  const parts = turn.parts.map((part) =>
    part.type === 'tool'
      ? toolPart(part, isOver)
      : partOf(part, part === last ? 'streaming' : 'done'),
  );
  return [...parts, ...(turn.reply ?? []).filter(isFile)];
}

function partOf(part: Exclude<TurnPart, ToolCall>, state: 'streaming' | 'done'): AnswerPart {
  if (part.type === 'data') return { type: 'data-agent', data: part.data };
  return { type: part.type, text: part.text, state };
}

/**
 * A tool without a type of its own, which the agent runs: `useChat` must not run it. Chunks of AI SDK 6 cannot say what was
 * decided, so a part only says that there was something to decide. Nobody can decide a call of a turn that has ended.
 */
function toolPart(tool: ToolCall, isOver: boolean): DynamicToolUIPart {
  const { id, name, decision, ...call } = tool;
  const state = isOver && tool.state === 'waiting' ? 'denied' : tool.state;
  const { input, output = call.url ?? null, error = '' } = call;
  const isAsked = state === 'waiting' || state === 'denied' || decision !== undefined;
  const part = {
    type: 'dynamic-tool',
    toolName: name,
    toolCallId: id,
    providerExecuted: true,
    input: input ?? null,
    ...(isAsked && { approval: { id } }),
    ...stateOf(state, decision !== undefined, output, error),
  };
  return part as DynamicToolUIPart;
}

function stateOf(
  state: ToolCall['state'],
  isDecided: boolean,
  output: unknown,
  errorText: string,
): { state: DynamicToolUIPart['state']; output?: unknown; errorText?: string } {
  switch (state) {
    case 'done':
      return { state: 'output-available', output };
    case 'failed':
      return { state: 'output-error', errorText };
    case 'denied':
      return { state: 'output-denied' };
    case 'waiting':
      return { state: isDecided ? 'input-available' : 'approval-requested' };
    default:
      return { state: 'input-available' };
  }
}

function isFile(part: { type: string }): part is FileUIPart {
  const { type, url, mediaType } = part as Partial<FileUIPart>;
  return type === 'file' && typeof url === 'string' && typeof mediaType === 'string';
}
