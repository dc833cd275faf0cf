import type { UIMessageChunk } from 'ai';
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
    // A reply that does not begin with the words follows them, because a stream takes nothing back.
    if (!turn.text.startsWith(this.#turn?.text ?? '')) yield* this.#beginAnew();
    this.#turn = turn;
    const parts = partsOf(turn);
    for (const [index, part] of parts.entries()) yield* this.#part(part, index);
    this.#told = parts;
    if (!isOpen(turn)) {
      yield { type: 'finish', finishReason: turn.state === 'done' ? 'stop' : 'other' };
    }
  }

  *#beginAnew(): Generator<UIMessageChunk, void> {
    for (const [index, part] of this.#told.entries()) {
      if (part.type === 'text' && part.state === 'streaming') yield this.#textEnd(index);
    }
    this.#before += this.#told.length;
    this.#told = [];
  }

  *#part(part: AnswerPart, index: number): Generator<UIMessageChunk, void> {
    const told = this.#told[index];
    if (part.type === 'text') {
      const before = told?.type === 'text' ? told : undefined;
      const id = String(this.#before + index);
      const delta = part.text.slice(before?.text.length ?? 0);
      if (!before) yield { type: 'text-start', id };
      if (delta !== '') yield { type: 'text-delta', id, delta };
      if (part.state === 'done' && before?.state !== 'done') yield this.#textEnd(index);
    } else if (part.type === 'dynamic-tool') {
      const { toolCallId, toolName, input } = part;
      const own = { toolCallId, dynamic: true, providerExecuted: true };
      if (!told) yield { type: 'tool-input-available', toolName, input, ...own };
      if (told?.type === 'dynamic-tool' && told.state === part.state) return;
      if (part.state === 'output-available') {
        yield { type: 'tool-output-available', output: part.output, ...own };
      } else if (part.state === 'output-error') {
        yield { type: 'tool-output-error', errorText: part.errorText, ...own };
      }
    } else if (!told) yield { type: 'file', url: part.url, mediaType: part.mediaType };
  }

  #textEnd(index: number): UIMessageChunk {
    return { type: 'text-end', id: String(this.#before + index) };
  }
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
