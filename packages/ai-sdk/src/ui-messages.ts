import type { DynamicToolUIPart, FileUIPart, TextUIPart, UIMessage } from 'ai';
import { isOpen, type Stop, type ToolCall, type Turn } from '@agent-gateway/client';

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

export type AnswerPart = TextUIPart | DynamicToolUIPart | FileUIPart;

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
export function answerId({ key, seq }: Turn): string {
  return `answer-${seq ?? key}`;
}

export function metadataOf({ state, ...turn }: Turn): AgentMessageMetadata {
  const { stoppedBy, error, beganAt, endedAt } = turn;
  const known = Object.entries({ stoppedBy, error, beganAt, endedAt }).filter(([, value]) => value);
  return { state, ...Object.fromEntries(known) };
}

/** The text with the calls of tools in their places. While the turn is open, parts grow and new ones follow. */
export function partsOf(turn: Turn): AnswerPart[] {
  const parts: AnswerPart[] = [];
  let begin = 0;
  const tell = (end: number, state: 'streaming' | 'done'): void => {
    if (end > begin) parts.push({ type: 'text', text: turn.text.slice(begin, end), state });
    begin = Math.max(begin, end);
  };
  for (const call of turn.tools) {
    tell(call.textLength, 'done');
    parts.push(toolPart(call));
  }
  tell(turn.text.length, isOpen(turn) ? 'streaming' : 'done');
  return [...parts, ...(turn.reply ?? []).filter(isFile)];
}

/** A tool without a type of its own, which the agent runs: `useChat` must not run it. */
function toolPart({ id, name, state, ...call }: ToolCall): DynamicToolUIPart {
  const { input, output = call.url ?? null, error = '' } = call;
  const part = { type: 'dynamic-tool', toolName: name, toolCallId: id } as const;
  const own = { ...part, providerExecuted: true, input: input ?? null };
  if (state === 'done') return { ...own, state: 'output-available', output };
  if (state === 'failed') return { ...own, state: 'output-error', errorText: error };
  return { ...own, state: 'input-available' };
}

function isFile(part: { type: string }): part is FileUIPart {
  const { type, url, mediaType } = part as Partial<FileUIPart>;
  return type === 'file' && typeof url === 'string' && typeof mediaType === 'string';
}
