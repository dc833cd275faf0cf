import type { Message } from '@ag-ui/core';
import { type ToolCall, type Turn } from '@agent-gateway/client';

/** The same for a part in every run and after every reload. */
export function partId({ id, key }: Turn, index: number): string {
  return `${id ?? key}.${index}`;
}

/** Turns as the messages that a client has of them. */
export function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.flatMap((turn) => {
    const said = turn.parts.flatMap((part, index): Message[] => {
      const id = partId(turn, index);
      if (part.type === 'text') return [{ id, role: 'assistant', content: part.text }];
      if (part.type === 'reasoning') return [{ id, role: 'reasoning', content: part.text }];
      return part.type === 'tool' ? callMessages(part) : [];
    });
    const { key, message } = turn;
    return message ? [{ id: key, role: 'user', content: message.text }, ...said] : said;
  });
}

function callMessages(call: ToolCall): Message[] {
  const { id, name, input = {} } = call;
  const toolCall = {
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  };
  const result = resultOf(call);
  return [{ id, role: 'assistant', toolCalls: [toolCall] }, ...(result ? [result] : [])];
}

/** The message with the result of a call that has ended. */
export function resultOf(call: ToolCall): Extract<Message, { role: 'tool' }> | undefined {
  const { id: toolCallId, state, output = null, error } = call;
  if (state === 'waiting' || state === 'called') return undefined;
  const own = { id: `${toolCallId}.result`, role: 'tool', toolCallId } as const;
  if (state === 'done') {
    return { ...own, content: typeof output === 'string' ? output : JSON.stringify(output) };
  }
  const reason = error ?? (state === 'denied' ? 'denied by a person' : 'failed');
  return { ...own, content: reason, error: reason };
}

/** The turn that has all of these calls. */
export function turnWith(turns: readonly Turn[], calls: readonly string[]): Turn | undefined {
  return turns.findLast((turn) => calls.every((call) => turn.tools.some(({ id }) => id === call)));
}
