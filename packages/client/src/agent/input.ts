import { entityOf } from '../address.ts';
import { isObject, isTooDeep, parseJson, type Json } from './json.ts';
import { readMessage, type Message } from './message.ts';
import { MAX_CHAIN, type Caller } from './turn-state.ts';

/** What a `send` asks of an agent. `problem` says what is wrong with one that cannot be read. */
export type Input =
  | { kind: 'message'; message: Message; caller?: Caller; reminder?: string }
  | { kind: 'stop'; invocationId?: string; call?: string; reason?: string }
  | { kind: 'withdraw'; invocationId: string; reason?: string }
  | { kind: 'decision'; call: string; approved: boolean; by?: string; note?: string; input?: Json }
  | { kind: 'result'; call: string; agent: string; outcome: ChildOutcome }
  | { kind: 'locate'; invocationId: string }
  | { kind: 'remind'; content: Json; delayMs: number }
  | { kind: 'forget'; children: boolean }
  | { problem: string; caller?: Caller };

/** How the turn of a child ended. */
export interface ChildOutcome {
  state: 'done' | 'failed' | 'refused' | 'stopped';
  /** What the child said. */
  text: string;
  /** Why it did not reply. */
  reason?: string;
}

const OUTCOMES: readonly unknown[] = ['done', 'failed', 'refused', 'stopped'];
/** Restate takes longer delays, but a number that is no exact millisecond is a mistake. */
const LONGEST_DELAY_MS = 366 * 86_400_000;

/** Reads what a client sent to the agent of a URL. It never throws, see `readMessage`. */
export function readInput(body: Uint8Array, url: string): Input {
  const value = objectIn(body);
  const kind = value?.kind;
  if (!value || kind === undefined || kind === 'message') {
    return readOwnMessage(body, value ?? {}, url);
  }
  const name = textOf(kind) ?? 'message';
  if (isTooDeep(value)) return { problem: `the ${name} is nested too deep` };
  const { invocationId, call, approved } = value;
  const named = (...names: string[]) => textFields(value, names);
  const missing = (what: string) => ({ problem: `the ${name} needs ${what}` });
  switch (kind) {
    case 'stop':
      if (!textOf(invocationId) && !textOf(call)) return missing('an invocationId');
      return { kind, ...named('invocationId', 'call', 'reason') };
    case 'withdraw':
      if (!textOf(invocationId)) return missing('an invocationId');
      return { kind, invocationId: invocationId as string, ...named('reason') };
    case 'locate':
      if (!textOf(invocationId)) return missing('an invocationId');
      return { kind, invocationId: invocationId as string };
    case 'decision': {
      if (!textOf(call)) return missing('a call');
      if (typeof approved !== 'boolean') return missing('approved, true or false');
      const changed = value.input === undefined ? {} : { input: value.input };
      return { kind, call: call as string, approved, ...named('by', 'note'), ...changed };
    }
    case 'result':
      return readResult(value) ?? missing('a call, an agent and a state');
    case 'remind':
      return readReminder(value);
    case 'forget':
      return { kind, children: value.children === true };
    default:
      return { problem: 'the kind of a message must be "message"' };
  }
}

function readOwnMessage(body: Uint8Array, value: { [name: string]: Json }, url: string): Input {
  const read = readMessage(body);
  const caller = readCaller(value.caller, url);
  if ('problem' in read) return { ...read, ...(caller && { caller }) };
  const reminder = textOf(value.reminder);
  const more = { ...(caller && { caller }), ...(reminder !== undefined && { reminder }) };
  return { kind: 'message', message: read.message, ...more };
}

/** The agent gets the result with this agent's key: only one of the same tenant is meant, and no other path of the gateway. */
function readCaller(value: Json | undefined, own: string): Caller | undefined {
  if (!isObject(value)) return undefined;
  const { url, call, chain } = value;
  const isSibling = (one: Json | undefined) => isOfSameTenant(one, own);
  const isChain =
    Array.isArray(chain) && chain.length <= MAX_CHAIN && chain.every((one) => isSibling(one));
  const isCall = typeof call === 'string' && /^\S{1,64}$/.test(call);
  if (!isSibling(url) || !isCall || !isChain) return undefined;
  return { url: url as string, call, chain: chain as string[] };
}

function isOfSameTenant(value: Json | undefined, own: string): boolean {
  try {
    return typeof value === 'string' && tenantOf(value) === tenantOf(own);
  } catch {
    return false;
  }
}

/** Throws a TypeError for what is no URL of an agent. */
function tenantOf(url: string): string {
  const { tenant } = entityOf(url);
  if (tenant === undefined) throw new TypeError(`${url} names no tenant`);
  return tenant;
}

function readResult(value: { [name: string]: Json }): Input | undefined {
  const { call, agent, state, text } = value;
  if (!textOf(call) || !textOf(agent) || !OUTCOMES.includes(state)) return undefined;
  const outcome = {
    state: state as ChildOutcome['state'],
    text: textOf(text) ?? '',
    ...textFields(value, ['reason']),
  };
  return { kind: 'result', call: call as string, agent: agent as string, outcome };
}

function readReminder({ content, delayMs }: { [name: string]: Json }): Input {
  const read = readMessage(new TextEncoder().encode(JSON.stringify({ content: content ?? null })));
  if ('problem' in read) return read;
  const isDelay =
    Number.isSafeInteger(delayMs) && Number(delayMs) >= 0 && Number(delayMs) <= LONGEST_DELAY_MS;
  if (!isDelay) return { problem: 'the remind needs delayMs, milliseconds up to a year' };
  return { kind: 'remind', content: content as Json, delayMs: delayMs as number };
}

function objectIn(body: Uint8Array): { [name: string]: Json } | undefined {
  try {
    const value = parseJson(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function textFields(value: { [name: string]: Json }, names: string[]): Record<string, string> {
  const found = names.map((name) => [name, textOf(value[name])] as const);
  return Object.fromEntries(found.filter((one): one is [string, string] => one[1] !== undefined));
}
