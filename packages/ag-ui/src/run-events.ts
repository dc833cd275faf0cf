import { EventType, type Event, type Interrupt, type Message } from '@ag-ui/core';
import { isOpen, type ToolCall, type Turn, type TurnPart } from '@agent-gateway/client';
import { partId, resultOf } from './messages.ts';

/** What an interrupt is answered with. */
const DECISION_SCHEMA = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, note: { type: 'string' } },
  required: ['approved'],
};

/** Gives the changes of one turn as events, after what the messages of a client have of it. */
export class RunEvents {
  /** How much of each part the client has: characters of a text, or that a call was made. */
  readonly #told = new Map<string, number>();
  /** The text or thought that grows. */
  #open: { id: string; type: 'text' | 'reasoning' } | undefined;
  /** The parts before this one are known to the client, but for the results of calls. */
  #first = 0;
  readonly #known: ReadonlySet<string>;

  constructor(messages: readonly Message[] = []) {
    this.#known = idsIn(messages);
  }

  /** What is new in the turn. */
  *after(turn: Turn): Generator<Event, void> {
    if (this.#told.size === 0) this.#first = this.#firstUnknown(turn);
    for (const [index, part] of turn.parts.entries()) {
      const id = partId(turn, index);
      if (part.type === 'tool') yield* this.#call(part, index < this.#first);
      else if (index < this.#first) continue;
      else if (part.type === 'data') yield* this.#custom(id, 'data', part.data);
      else yield* this.#text(part, id);
    }
    if (!isOpen(turn)) yield* this.#close();
  }

  /** Ends a text that grows: another part or the end of the run comes. */
  *close(): Generator<Event, void> {
    yield* this.#close();
  }

  #firstUnknown(turn: Turn): number {
    const isKnown = (part: TurnPart, index: number): boolean =>
      this.#known.has(part.type === 'tool' ? part.id : partId(turn, index));
    return 1 + turn.parts.findLastIndex(isKnown);
  }

  *#text(
    { type, text }: { type: 'text' | 'reasoning'; text: string },
    id: string,
  ): Generator<Event, void> {
    const told = this.#told.get(id) ?? 0;
    if (text.length <= told) return;
    if (this.#open?.id !== id) {
      yield* this.#close();
      this.#open = { id, type };
      if (type === 'text') {
        yield { type: EventType.TEXT_MESSAGE_START, messageId: id, role: 'assistant' };
      } else {
        yield { type: EventType.REASONING_START, messageId: id };
        yield { type: EventType.REASONING_MESSAGE_START, messageId: id, role: 'reasoning' };
      }
    }
    const content = { messageId: id, delta: text.slice(told) };
    yield type === 'text'
      ? { type: EventType.TEXT_MESSAGE_CONTENT, ...content }
      : { type: EventType.REASONING_MESSAGE_CONTENT, ...content };
    this.#told.set(id, text.length);
  }

  *#close(): Generator<Event, void> {
    const { id: messageId = '', type } = this.#open ?? {};
    this.#open = undefined;
    if (type === 'text') yield { type: EventType.TEXT_MESSAGE_END, messageId };
    if (type !== 'reasoning') return;
    yield { type: EventType.REASONING_MESSAGE_END, messageId };
    yield { type: EventType.REASONING_END, messageId };
  }

  *#call(call: ToolCall, isKnown: boolean): Generator<Event, void> {
    const { id: toolCallId, name: toolCallName, input = {}, url, decision } = call;
    if (!isKnown && !this.#told.has(toolCallId)) {
      yield* this.#close();
      yield { type: EventType.TOOL_CALL_START, toolCallId, toolCallName };
      yield { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(input) };
      yield { type: EventType.TOOL_CALL_END, toolCallId };
    }
    this.#told.set(toolCallId, 1);
    if (url !== undefined) yield* this.#custom(`${toolCallId}.url`, 'agent', { toolCallId, url });
    if (decision)
      yield* this.#custom(`${toolCallId}.decision`, 'decision', { toolCallId, ...decision });
    const result = resultOf(call);
    if (!result || this.#known.has(result.id) || this.#told.has(result.id)) return;
    this.#told.set(result.id, 1);
    const { id: messageId, content } = result;
    yield { type: EventType.TOOL_CALL_RESULT, messageId, toolCallId, content, role: 'tool' };
  }

  /** Something that the protocol has no event for. */
  *#custom(id: string, name: string, value: unknown): Generator<Event, void> {
    if (this.#told.has(id)) return;
    this.#told.set(id, 1);
    yield { type: EventType.CUSTOM, name, value };
  }
}

/** The ids of messages and calls. */
function idsIn(messages: readonly Message[]): Set<string> {
  return new Set(
    messages.flatMap((message) => {
      const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
      return [message.id, ...calls.map(({ id }) => id)];
    }),
  );
}

/** The calls that wait for a person, but those whose decision is on its way. */
export function interruptsOf({ tools }: Turn, sent: ReadonlySet<string> = new Set()): Interrupt[] {
  return tools
    .filter(({ id, state, decision }) => state === 'waiting' && !decision && !sent.has(id))
    .map(({ id, name }) => ({
      id,
      reason: 'tool_approval',
      message: `May it use ${name}?`,
      toolCallId: id,
      responseSchema: DECISION_SCHEMA,
    }));
}

/** The event that a turn ends its run with. */
export function endOf(turn: Turn, run: { threadId: string; runId: string }): Event {
  const { inputTokens, outputTokens } = turn.usage ?? {};
  const counted = {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
  const usage = turn.usage && { usage: [counted] };
  if (turn.state === 'failed' || turn.state === 'refused') {
    return { type: EventType.RUN_ERROR, message: turn.error ?? '', code: turn.state, ...usage };
  }
  const type = turn.state === 'stopped' ? 'cancelled' : 'success';
  return { type: EventType.RUN_FINISHED, ...run, outcome: { type }, ...usage };
}
