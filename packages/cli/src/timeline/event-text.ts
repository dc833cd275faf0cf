import { compactJson } from '../output/json.ts';
import { plainText } from '../output/plain-text.ts';

/** The known fields of a timeline's event. Anybody with a key may append anything. */
export type TimelineEvent = Record<string, unknown>;

/** Fields with columns of their own, or of no interest to a reader. */
const STANDARD_FIELDS = new Set(['seq', 'at', 'kind', 'requestId', 'replyTo']);

/**
 * The text of an event, safe to print. The kinds are those of `docs/agents.md`. For other or invalid events it is
 * compact JSON of all fields.
 */
export function eventText(event: TimelineEvent): string {
  return plainText(knownText(event) ?? otherFields(event));
}

function knownText(event: TimelineEvent): string | undefined {
  const { kind, content, text, reason, message } = event;
  switch (kind) {
    case 'message':
      return contentText(content);
    case 'reply':
      return joined([contentText(content), stopText(event)]);
    case 'word':
      return asText(text);
    case 'tool':
      return toolText(event);
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

/** Which command stopped a reply, such as `(stopped by interrupt: enough)`. */
export function stopText({ stopped }: TimelineEvent): string | undefined {
  const { verb, reason } = (stopped ?? {}) as Record<string, unknown>;
  if (asText(verb) === undefined) return undefined;
  const why = asText(reason);
  return `(stopped by ${asText(verb)}${why === undefined ? '' : `: ${why}`})`;
}

/** Such as `weather called {"city":"Rome"}`. */
function toolText({ name, state, input, output, error, url }: TimelineEvent): string | undefined {
  if (asText(name) === undefined || asText(state) === undefined) return undefined;
  const data = state === 'called' ? input : (asText(url) ?? asText(error) ?? output);
  const said = typeof data === 'string' ? data : data === undefined ? undefined : compactJson(data);
  return joined([asText(name), asText(state), said]);
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
