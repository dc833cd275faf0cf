import { compactJson } from '../output/json.ts';

/** The known fields of a timeline's event. Anybody with a key may append anything. */
export type TimelineEvent = Record<string, unknown>;

/** Fields with columns of their own, or of no interest to a reader. */
const STANDARD_FIELDS = new Set(['seq', 'at', 'kind', 'requestId', 'replyTo']);

/** The commands of one turn. The others are verbs of the agent. */
const STOPS = new Map([
  ['stop', 'stopped'],
  ['withdraw', 'withdrawn'],
]);

/**
 * The text of an event. The kinds are those of `docs/agents.md`. For other or invalid events it is
 * compact JSON of all fields.
 */
export function eventText(event: TimelineEvent): string {
  return knownText(event) ?? otherFields(event);
}

function knownText(event: TimelineEvent): string | undefined {
  const { kind, content, text, reason, message } = event;
  switch (kind) {
    case 'message':
      return contentText(content);
    case 'reply':
      return joined([contentText(content), stopText(event)]);
    case 'word':
    case 'reasoning':
      return asText(text);
    case 'tool':
      return toolText(event);
    case 'decision':
      return decisionText(event);
    case 'data':
      return event.data === undefined ? undefined : compactJson(event.data);
    case 'restored':
      return restoredText(event);
    case 'status':
      return asText(statusWords(event).join(' '));
    case 'refused':
      return asText(reason);
    case 'error':
      return asText(message);
    default:
      return undefined;
  }
}

/** Such as `pause (lunch) → paused`, or `→ failing (attempt 2: no answer)` for a status without a verb. */
function statusWords({ verb, reason, status, attempt }: TimelineEvent): string[] {
  const count = typeof attempt === 'number' ? `attempt ${attempt}` : undefined;
  const why = [count, asText(reason)].filter((part) => part !== undefined).join(': ');
  const because = why === '' ? undefined : `(${why})`;
  const now = asText(status) && `→ ${asText(status)}`;
  const words = asText(verb) === undefined ? [now, because] : [asText(verb), because, now];
  return words.filter((word) => word !== undefined);
}

/** Which command stopped a reply, such as `(stopped: enough)` or `(stopped by interrupt: enough)`. */
export function stopText({ stopped }: TimelineEvent): string | undefined {
  const { verb, reason } = (stopped ?? {}) as Record<string, unknown>;
  const by = asText(verb);
  if (by === undefined) return undefined;
  const what = STOPS.get(by) ?? `stopped by ${by}`;
  const why = asText(reason);
  return `(${what}${why === undefined ? '' : `: ${why}`})`;
}

/** Such as `weather called {"city":"Rome"}`, or `refund waits for a decision {"order":7} (call k3.1)`. */
function toolText({ id, name, state, ...event }: TimelineEvent): string | undefined {
  const { input, output, error, url } = event;
  if (asText(name) === undefined || asText(state) === undefined) return undefined;
  const isBefore = state === 'called' || state === 'waiting';
  const data = isBefore ? input : (asText(url) ?? asText(error) ?? output);
  const said = typeof data === 'string' ? data : data === undefined ? undefined : compactJson(data);
  if (state !== 'waiting') return joined([asText(name), asText(state), said]);
  const call = asText(id) && `(call ${asText(id)})`;
  return joined([asText(name), 'waits for a decision', said, call]);
}

/** Such as `k3.1 denied by ada: too much`. */
function decisionText(event: TimelineEvent): string | undefined {
  const { call, approved, by, note, input, expired } = event;
  if (asText(call) === undefined || typeof approved !== 'boolean') return undefined;
  const who = asText(by) && `by ${asText(by)}`;
  const changed = input === undefined ? undefined : `with ${compactJson(input)}`;
  const late = expired === true ? 'because nobody decided in time' : undefined;
  const said = joined([asText(call), approved ? 'approved' : 'denied', who, changed, late]);
  return asText(note) === undefined ? said : `${said}: ${asText(note)}`;
}

function restoredText({ expected, found }: TimelineEvent): string | undefined {
  if (typeof expected !== 'number' || typeof found !== 'number') return undefined;
  const differ = Math.abs(expected - found);
  const events = differ === 1 ? '1 event' : `${differ} events`;
  return found < expected
    ? `the store was restored, and ${events} of the agent are missing`
    : `the agent was restored, and may repeat ${events}`;
}

function joined(parts: (string | undefined)[]): string | undefined {
  return asText(parts.filter((part) => asText(part) !== undefined).join(' '));
}

/** Text parts unchanged, other parts as JSON. */
export function contentText(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  return content
    .map((part: unknown) => {
      const { type, text } = (part ?? {}) as Record<string, unknown>;
      return type === 'text' && typeof text === 'string' ? text : compactJson(part);
    })
    .join('\n');
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function otherFields(event: TimelineEvent): string {
  const others = Object.entries(event).filter(([name]) => !STANDARD_FIELDS.has(name));
  return others.length === 0 ? '' : compactJson(Object.fromEntries(others));
}
