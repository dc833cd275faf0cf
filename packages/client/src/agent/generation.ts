import type { Usage } from '../events.ts';
import type { Json } from './json.ts';
import type { Message } from './message.ts';

/** What an answer consists of so far, in order. */
export type WrittenPart = { type: 'text'; text: string } | ({ type: 'tool' } & ToolResult);

/** A call of a tool. One that `generate` sees has ended, with its output or its error. */
export interface ToolResult {
  /** The kit's own id of the call, unique in the agent. */
  id: string;
  /** The model's id of the call, if it gave one. */
  modelId?: string;
  name: string;
  input?: Json;
  output?: Json;
  error?: string;
  /** What a person said, where the tool waits for one. */
  decision?: Decision;
}

/** A person's decision about a call. */
export interface Decision {
  approved: boolean;
  by?: string;
  note?: string;
}

/** Asks for a tool. `id` is the model's own id of the call, if it has one. */
export interface ToolRequest {
  tool: string;
  /** Data that JSON can hold. */
  input?: unknown;
  id?: string;
}

/** What `generate` may yield. */
export type GeneratedPart =
  | string
  | ToolRequest
  | ToolRequest[]
  /** Tokens in and out, cost: the numbers of all parts are summed up. */
  | { usage: Usage }
  /** What the model thinks. It is no part of the reply. */
  | { reasoning: string }
  /** Anything for the application: it is an event of the timeline, and no part of the reply. */
  | { data: unknown };

/** An earlier turn of the conversation. */
export interface PastTurn {
  message: string;
  reply: string;
  /** What was said in order, with calls of tools and their results. Absent in turns that version 0.2.0 wrote. */
  parts?: WrittenPart[];
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
  /** Aborted when the answer is stopped or this attempt ends; the reason is a `TurnStopped` or an `AttemptEnded`. */
  signal: AbortSignal;
}

/**
 * Yields the pieces of the answer that come after `written`, and calls of tools: several calls of one step are one list. A call evaluates
 * to the output of the tool, a list to the list of them. If the last piece is a call, or a call waits, `generate` is called again,
 * with the results in `written`: across a wait nothing else of the generator is left. An error is recorded, and `generate` is called again
 * later. A `TerminalError` ends the turn, and so does a part of another form.
 */
// What a call evaluates to is known to the author of the tool only.
// eslint-disable-next-line typescript/no-explicit-any
export type Generate = (generation: Generation) => AsyncIterable<GeneratedPart, any, any>;

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
