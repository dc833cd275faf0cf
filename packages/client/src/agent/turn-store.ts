import type { ObjectContext } from '@restatedev/restate-sdk';
import { writeText, writtenText } from './generation.ts';
import type { PastTurn, ToolResult, WrittenPart } from './generation.ts';
import type { Json } from './json.ts';
import type { Message } from './message.ts';
import type { NewEvent } from './timeline.ts';
import type { Turn, TurnTaker, WaitingTurn } from './turn-state.ts';

/** A call of a tool while its turn is under way. */
export interface Call extends ToolResult {
  type: 'tool';
  /** The number of the call in its turn: 1, 2, 3 … */
  number: number;
  /** `approved`: a person said yes, and it has not run yet. The rest is as on the timeline. */
  state: 'waiting' | 'approved' | 'called' | 'done' | 'failed' | 'denied';
  /** The agent that works on it, and the name of its turn once its message is accepted. */
  child?: { url: string; turn?: string };
}

/** What an answer under way consists of. */
export type Part = Exclude<WrittenPart, { type: 'tool' }> | Call;

/** A failure as an operator sees it in the state of the agent. */
export interface Failure {
  /** Since when it fails, as ISO 8601. */
  since: string;
  /** How often, in a row. */
  tries: number;
  /** It is not tried again. */
  isFinal: boolean;
  /** The error with its causes and stacks. */
  error: string;
}

/** The history that `generate` gets has at most this many characters, and this many turns. */
const MAX_HISTORY_LENGTH = 64 * 1_024;
const MAX_TURNS = 100;
const HOUR_MS = 3_600_000;

const WRITTEN = 'written';
const TURNS = 'turns';
/** `failures.ts` reads it. */
const FAILURE = 'failure';

/** The messages, the answer under way, the history and the failure of an agent: values of their own, because they are large. */
export class TurnStore {
  readonly #ctx: ObjectContext;

  constructor(ctx: ObjectContext) {
    this.#ctx = ctx;
  }

  keepMessage(id: string, message: Message): void {
    this.#ctx.set(messageKey(id), message);
  }

  message(id: string): Promise<Message | null> {
    return this.#ctx.get<Message>(messageKey(id));
  }

  /** What an invocation needs to answer a message, or to continue with it. */
  async read(id: string) {
    const args = await this.#ctx.get<Json>('args');
    return {
      message: (await this.message(id)) ?? { content: [], text: '' },
      turns: (await this.#ctx.get<PastTurn[]>(TURNS)) ?? [],
      written: (await this.written()).filter(isWhole),
      ...(args !== null && { args }),
    };
  }

  async written(): Promise<Part[]> {
    return (await this.#ctx.get<Part[]>(WRITTEN)) ?? [];
  }

  keepWritten(written: Part[]): void {
    this.#ctx.set(WRITTEN, written);
  }

  /** Ends a turn, which is then part of the history. @returns what was said. */
  async end({ id }: WaitingTurn, isUnderWay: boolean): Promise<string> {
    const written = isUnderWay ? await this.written() : [];
    const reply = writtenText(written);
    const message = await this.message(id);
    if (isUnderWay) this.#ctx.clear(WRITTEN);
    this.#ctx.clear(messageKey(id));
    if (written.length > 0) {
      const turns = (await this.#ctx.get<PastTurn[]>(TURNS)) ?? [];
      turns.push({ message: message?.text ?? '', reply, parts: written.map(partOf) });
      this.#ctx.set(TURNS, newest(turns));
    }
    return reply;
  }

  fail(failure: Failure | undefined): void {
    if (failure) this.#ctx.set(FAILURE, failure);
    else this.#ctx.clear(FAILURE);
  }

  failure(): Promise<Failure | null> {
    return this.#ctx.get<Failure>(FAILURE);
  }

  /** Keeps where a turn begins for as long as its key is. */
  async keepPlace(
    self: TurnTaker,
    { id, offset, at }: { id: string; offset: string; at: string },
    retentionMs: number,
  ): Promise<void> {
    const hour = Math.floor(Date.parse(at) / HOUR_MS);
    const hours = (self.hours ??= []);
    if (hours.at(-1) !== hour) hours.push(hour);
    while (hours[0] !== undefined && (hour - hours[0] - 1) * HOUR_MS > retentionMs) {
      this.#ctx.clear(placesKey(hours.shift() ?? 0));
    }
    const places = (await this.#ctx.get<Record<string, string>>(placesKey(hour))) ?? {};
    this.#ctx.set(placesKey(hour), { ...places, [id]: offset });
  }

  /** The offset before the message of a turn. */
  async placeOf({ hours = [] }: TurnTaker, id: string): Promise<string | undefined> {
    for (const hour of hours.toReversed()) {
      const places = await this.#ctx.get<Record<string, string>>(placesKey(hour));
      if (places && Object.hasOwn(places, id)) return places[id];
    }
    return undefined;
  }
}

/** Adds what events say to an answer under way. */
export function addEvents(written: Part[], turn: Turn, events: NewEvent[]): void {
  for (const { kind, ...fields } of events) {
    if (kind === 'word') {
      writeText(written, String(fields.text));
      turn.index += 1;
    } else if (kind === 'tool') addCall(written, turn, fields as unknown as Call);
  }
}

function addCall(written: Part[], turn: Turn, event: Call & { url?: string }): void {
  const { id, modelId, name, input, output, error, state, url } = event;
  let call = callOf(written, id);
  if (!call) {
    turn.calls += 1;
    call = { type: 'tool', id, name, number: turn.calls, state };
    if (modelId !== undefined) call.modelId = modelId;
    if (input !== undefined) call.input = input;
    written.push(call);
  }
  call.state = state;
  if (output !== undefined) call.output = output;
  if (error !== undefined) call.error = error;
  if (state === 'called' && url !== undefined) call.child = { url, ...call.child };
}

export function callOf(written: readonly Part[], id: string): Call | undefined {
  return written.findLast((part): part is Call => part.type === 'tool' && part.id === id);
}

/** Whether a call has its result. */
export function hasEnded({ output, error, state }: Call): boolean {
  // Version 0.2.0 wrote no state.
  return output !== undefined || error !== undefined || state === 'done' || state === 'failed';
}

/** A part as `generate` sees it. */
export function partOf(part: Part): WrittenPart {
  if (part.type === 'text') return { ...part };
  const { number: _number, state: _state, child: _child, ...result } = part;
  return result;
}

function messageKey(id: string): string {
  return `message ${id}`;
}

function placesKey(hour: number): string {
  return `places ${hour}`;
}

/** A call that version 0.2.0 began and did not end is made again. */
function isWhole(part: Part): boolean {
  return part.type === 'text' || part.state !== undefined || hasEnded(part);
}

/** As many of the newest turns as there is room for, but at least one. */
function newest(turns: PastTurn[]): PastTurn[] {
  let length = 0;
  const kept = turns.slice(-MAX_TURNS);
  const first = kept.findLastIndex((turn) => {
    length += JSON.stringify(turn).length;
    return length > MAX_HISTORY_LENGTH;
  });
  return kept.slice(Math.min(first + 1, kept.length - 1));
}

/** The calls of an answer. */
export function callsOf(written: readonly Part[]): Call[] {
  return written.filter((part): part is Call => part.type === 'tool');
}

/** Whether the agent has ended a call, with its event. */
export function isOver(call: Call | undefined): boolean {
  return call !== undefined && ['done', 'failed', 'denied'].includes(call.state);
}

export function isWaiting({ state }: Call): boolean {
  return state === 'waiting';
}

/** Takes over what an invocation knows of a call. */
export function putCall(written: Part[], turn: Turn, call: Call): void {
  const place = written.findLastIndex((part) => part.type === 'tool' && part.id === call.id);
  if (place === -1) {
    written.push(call);
    turn.calls = Math.max(turn.calls, call.number);
  } else written[place] = call;
}
