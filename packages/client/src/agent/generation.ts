import type { Message } from './message.ts';
import type { Json } from './json.ts';

/** What an answer consists of so far, in order. */
export type WrittenPart = { type: 'text'; text: string } | ({ type: 'tool' } & ToolResult);

/** A call of a tool that has ended, with its output or its error. */
export interface ToolResult {
  id: string;
  name: string;
  input?: Json;
  output?: Json;
  error?: string;
}

/** Asks for a tool. `id` is the model's own id of the call, if it has one. */
export interface ToolRequest {
  tool: string;
  input?: Json;
  id?: string;
}

/** An earlier turn of the conversation. */
export interface PastTurn {
  message: string;
  reply: string;
}

/** What a model is given for one answer. */
export interface Generation {
  message: Message;
  /** The earlier turns, oldest first. */
  turns: PastTurn[];
  /** The arguments of the spawn. */
  args?: Json;
  /** What this answer has so far. The next piece of text follows directly, and a tool in it has been called. */
  written: readonly WrittenPart[];
  /** Aborted when the answer is stopped or this attempt ends. */
  signal: AbortSignal;
}

/**
 * Yields the pieces of the answer that come after `written`, and calls of tools. A call evaluates to the output of the
 * tool. If the last piece is a call, `generate` is called again, with the result in `written`. An error is recorded,
 * and `generate` is called again later. A `TerminalError` ends the turn.
 */
export type Generate = (generation: Generation) => AsyncIterable<string | ToolRequest>;

/** The text of an answer so far. */
export function writtenText(written: readonly WrittenPart[]): string {
  return written.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Adds a piece of text to the text before it. */
export function writeText(written: WrittenPart[], text: string): void {
  const last = written.at(-1);
  if (last?.type === 'text') last.text += text;
  else written.push({ type: 'text', text });
}
