import type { DynamicToolUIPart, ReasoningUIPart, TextUIPart, UIMessageChunk } from 'ai';
import { AnswerError, isOpen, type Turn } from '@agent-gateway/client';
import { answerId, metadataOf, partsOf, type AnswerPart } from './ui-messages.ts';

/** Tells the changes of one turn as chunks, from its beginning to its end. */
export class AnswerChunks {
  #turn: Turn | undefined;
  #told: AnswerPart[] = [];
  /** How many parts came before those, because a reply replaced them. */
  #before = 0;

  /** What is new in the turn. */
  *after(turn: Turn): Generator<UIMessageChunk, void> {
    const messageMetadata = metadataOf(turn);
    if (!this.#turn) yield { type: 'start', messageId: answerId(turn), messageMetadata };
    else if (this.#turn.state !== turn.state) yield { type: 'message-metadata', messageMetadata };
    const parts = partsOf(turn);
    // A reply that does not begin with the words follows them, because a stream takes nothing back.
    if (!this.#told.every((part, index) => isContinued(part, parts[index])))
      yield* this.#beginAgain();
    this.#turn = turn;
    for (const [index, part] of parts.entries()) yield* this.#part(part, index);
    this.#told = parts;
    if (!isOpen(turn)) {
      yield { type: 'finish', finishReason: turn.state === 'done' ? 'stop' : 'other' };
    }
  }

  *#beginAgain(): Generator<UIMessageChunk, void> {
    for (const [index, part] of this.#told.entries()) {
      if (isSaid(part) && part.state === 'streaming') yield this.#end(part, index);
    }
    this.#before += this.#told.length;
    this.#told = [];
  }

  *#part(part: AnswerPart, index: number): Generator<UIMessageChunk, void> {
    const told = this.#told[index];
    if (isSaid(part)) {
      const before = told as SaidPart | undefined;
      const id = String(this.#before + index);
      const delta = part.text.slice(before?.text.length ?? 0);
      if (!before) yield { type: `${part.type}-start`, id };
      if (delta !== '') yield { type: `${part.type}-delta`, id, delta };
      if (part.state === 'done' && before?.state !== 'done') yield this.#end(part, index);
    } else if (part.type === 'dynamic-tool') {
      yield* this.#tool(part, told as DynamicToolUIPart | undefined);
    } else if (told) return;
    else if (part.type === 'file') {
      yield { type: 'file', url: part.url, mediaType: part.mediaType };
    } else yield part;
  }

  *#tool(part: DynamicToolUIPart, told?: DynamicToolUIPart): Generator<UIMessageChunk, void> {
    if (isEqual(told, part)) return;
    const { toolCallId, toolName, input, approval } = part;
    const own = { toolCallId, dynamic: true, providerExecuted: true };
    const available = { type: 'tool-input-available', toolName, input, ...own } as const;
    // The input may be another one, which an approver has changed.
    if (!told || !isEqual(told.input, input)) yield available;
    const isAsked = approval !== undefined && told?.approval === undefined;
    if (isAsked || part.state === 'approval-requested') {
      yield { type: 'tool-approval-request', approvalId: toolCallId, toolCallId };
    }
    if (part.state === 'input-available' && (told || isAsked)) yield available;
    if (part.state === 'output-denied') yield { type: 'tool-output-denied', toolCallId };
    if (part.state === 'output-available') {
      yield { type: 'tool-output-available', output: part.output, ...own };
    } else if (part.state === 'output-error') {
      yield { type: 'tool-output-error', errorText: part.errorText, ...own };
    }
  }

  #end({ type }: SaidPart, index: number): UIMessageChunk {
    return { type: `${type}-end`, id: String(this.#before + index) };
  }
}

type SaidPart = TextUIPart | ReasoningUIPart;

function isSaid(part: AnswerPart): part is SaidPart {
  return part.type === 'text' || part.type === 'reasoning';
}

/** Whether this part may be an earlier one that has grown. */
function isContinued(told: AnswerPart, part: AnswerPart | undefined): boolean {
  if (part?.type !== told.type) return false;
  if (isSaid(told)) return (part as SaidPart).text.startsWith(told.text);
  if (told.type !== 'dynamic-tool') return isEqual(told, part);
  return told.toolCallId === (part as DynamicToolUIPart).toolCallId;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The error that a turn ended with. */
export function errorOf({ state, error = '', text }: Turn): AnswerError | undefined {
  if (state === 'failed') {
    return new AnswerError(`The agent failed: ${error}`, { code: 'failed', text });
  }
  if (state !== 'refused') return undefined;
  const code = error === 'archived' ? 'archived' : 'refused';
  return new AnswerError(`The agent refused the message: ${error}`, { code });
}
