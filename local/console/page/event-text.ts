import { textOf, type Note, type TimelineEvent } from '../../../packages/client/src/index.ts';

/** An event with fields of its own. Anyone with a key may write anything. */
export type Event = TimelineEvent & Record<string, unknown>;

/** Fields that are shown elsewhere. */
const STANDARD_FIELDS = new Set(['seq', 'at', 'kind', 'requestId', 'replyTo']);

/** What happened besides the turns, and the agent that it names. */
export function noteText({ event, gap }: Note): { text: string; url?: string } {
  if (gap) {
    const [first, last] = gap;
    return {
      text:
        first === last ? `Event ${first} is missing.` : `Events ${first} to ${last} are missing.`,
    };
  }
  const { kind, url, parent } = (event ?? {}) as Event;
  const agent = kind === 'spawned' ? parent : kind === 'tool' || kind === 'child' ? url : undefined;
  if (typeof agent !== 'string') return { text: eventText(event as Event) };
  return { text: kind === 'spawned' ? 'by' : eventText(event as Event), url: agent };
}

/** An event in one line, without its number, time and kind. */
export function eventText(event: Event): string {
  const { kind, verb, reason, status, attempt, message, content, text, stopped } = event;
  if (kind === 'status' || kind === 'control') {
    const why = [attempt && `attempt ${plain(attempt)}`, reason]
      .filter(Boolean)
      .map(plain)
      .join(': ');
    return [verb, why && `(${why})`, '→', status].filter(Boolean).map(plain).join(' ');
  }
  if ((kind === 'word' || kind === 'reasoning') && typeof text === 'string') return text;
  if (kind === 'decision') return decisionText(event);
  if (kind === 'restored') return restoredText(event);
  if (kind === 'tool') return toolText(event);
  if (kind === 'refused' && typeof reason === 'string') return `A command was refused: ${reason}.`;
  if (kind === 'error' && typeof message === 'string') return message;
  if (Array.isArray(content)) {
    const said = textOf(content) || content.map(plain).join(' ');
    return stopped === undefined ? said : `(${stopWord(stopped)}) ${said}`.trim();
  }
  const entries = Object.entries(event).filter(([name]) => !STANDARD_FIELDS.has(name));
  return entries.map(([name, value]) => `${name}: ${plain(value)}`).join(', ');
}

function stopWord(stopped: unknown): string {
  const { verb } = (stopped ?? {}) as { verb?: unknown };
  return verb === 'withdraw' ? 'withdrawn' : 'stopped';
}

function decisionText({ call, ...event }: Event): string {
  return `${plain(call)} ${decisionWords(event)}`;
}

/** Who decided a call and how, such as `denied by ada: too much`. */
export function decisionWords({ approved, by, note, expired }: Record<string, unknown>): string {
  const who = by === undefined ? '' : ` by ${plain(by)}`;
  const late = expired === true ? ', because nobody decided in time' : '';
  const why = note === undefined ? '' : `: ${plain(note)}`;
  return `${approved === true ? 'approved' : 'denied'}${who}${late}${why}`;
}

function restoredText({ expected, found }: Event): string {
  if (typeof expected !== 'number' || typeof found !== 'number') return 'A store was restored.';
  const differ = expected - found;
  return differ > 0
    ? `The store was restored: ${differ} events of this agent are missing.`
    : `The agent was restored: it may repeat ${-differ} events.`;
}

function toolText({ name, state, input, output, error, url }: Event): string {
  const data =
    state === 'called' || state === 'waiting'
      ? input
      : (error ?? (url === undefined ? output : undefined));
  return [name, state, data]
    .filter((part) => part !== undefined)
    .map(plain)
    .join(' ');
}

/** A text as it is, anything else as JSON. */
export function plain(value: unknown): string {
  return typeof value === 'string' ? value : json(value);
}

/** `JSON.parse` reads what `JSON.stringify` cannot write: it calls itself for each level. */
export function json(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? '';
  } catch {
    return '(nested too deeply to be shown)';
  }
}

/** The trace of a `traceparent` (W3C Trace Context), or the id itself. */
export function traceOf(event: Event | undefined): string | undefined {
  const value = event?.traceId ?? event?.traceparent;
  if (typeof value !== 'string') return undefined;
  return /^[\da-f]{2}-([\da-f]{32})-/.exec(value)?.[1] ?? value;
}
