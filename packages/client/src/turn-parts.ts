import type { DecisionEvent, TextPart, ToolEvent } from './events.ts';

/** What the model thought before what follows. */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
}

/** Data of the agent for its application. */
export interface DataPart {
  type: 'data';
  /** Any JSON. */
  data: unknown;
}

/** What somebody decided about a call that waited. */
export type Decision = Pick<DecisionEvent, 'approved' | 'by' | 'note' | 'input' | 'expired'> & {
  /** The time of the decision, as ISO 8601. */
  at: string | undefined;
};

/** A call of a tool, with what is known of it so far. */
export type ToolCall = Pick<ToolEvent, 'id' | 'name' | 'state'> &
  Partial<Pick<ToolEvent, 'input' | 'output' | 'error' | 'url'>> & {
    type: 'tool';
    /** The decision, if the call waited for one. Until then a call in the state `waiting` waits for a person. */
    decision?: Decision;
    /** How long the text of the turn was when the tool was called, so where the call belongs in it. */
    textLength: number;
  };

/** A piece of an answer, in its place. Texts and thoughts are joined until something else comes. */
export type TurnPart = TextPart | ReasoningPart | ToolCall | DataPart;

type Parts = readonly TurnPart[];

const CALL_STATES: readonly unknown[] = [
  'waiting',
  'called',
  'done',
  'failed',
  'denied',
] satisfies ToolEvent['state'][];

/** The parts with a piece of text or of reasoning at their end. */
export function withText(parts: Parts, type: 'text' | 'reasoning', text: string): Parts {
  const last = parts.at(-1);
  return last?.type === type
    ? [...parts.slice(0, -1), { type, text: last.text + text }]
    : [...parts, { type, text }];
}

/**
 * The parts with the text of the whole reply. A text that goes beyond what was said is added. Another one replaces what was
 * said, because the reply counts, and stands at the end.
 */
export function withWhole(parts: Parts, said: string, whole: string): Parts {
  if (whole === said) return parts;
  if (whole.startsWith(said)) return withText(parts, 'text', whole.slice(said.length));
  const others = parts.filter(({ type }) => type !== 'text');
  return whole === '' ? others : [...others, { type: 'text', text: whole }];
}

/** The parts after an event of a call. Undefined if it is none. */
export function withCall(parts: Parts, event: ToolEvent, textLength: number): Parts | undefined {
  const { id, name, state, input, output, error, url } = event;
  if (typeof id !== 'string' || typeof name !== 'string') return undefined;
  if (!CALL_STATES.includes(state)) return undefined;
  const known = definedOf({ input, output, error: textOf(error), url: textOf(url) });
  const place = parts.findIndex((part) => part.type === 'tool' && part.id === id);
  const before = parts[place] as ToolCall | undefined;
  const call: ToolCall = { textLength, ...before, type: 'tool', id, name, state, ...known };
  // It asks once more, because a decision was no good.
  if (state === 'waiting') delete call.decision;
  return before ? parts.with(place, call) : [...parts, call];
}

/** The parts after a decision. Undefined if no call of these waits for it: the first decision counts. */
export function withDecision(parts: Parts, event: DecisionEvent): Parts | undefined {
  const { call: id, approved, by, note, input, expired, at } = event;
  if (typeof approved !== 'boolean') return undefined;
  const place = parts.findIndex((part) => isAsking(part) && part.id === id);
  if (place === -1) return undefined;
  const more = definedOf({ by: textOf(by), note: textOf(note), input });
  const decision = { approved, ...more, ...(expired === true && { expired }), at: textOf(at) };
  return parts.with(place, { ...(parts[place] as ToolCall), decision });
}

/** Whether it is a call that waits for a person's decision. */
export function isAsking(part: TurnPart): part is ToolCall {
  return part.type === 'tool' && part.state === 'waiting' && !part.decision;
}

export function callsOf(parts: Parts): ToolCall[] {
  return parts.filter((part) => part.type === 'tool');
}

function definedOf<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
