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
  const { kind, content, text, verb, reason, status, wordsSaid, url, message } = event;
  switch (kind) {
    case 'message':
    case 'reply':
      return contentText(content);
    case 'word':
      return asText(text);
    case 'control':
      return asText(controlWords({ verb, reason, status }).join(' '));
    case 'interrupted':
      return typeof wordsSaid === 'number' ? `after ${wordsSaid} words` : undefined;
    case 'child':
      return asText(url);
    case 'rejected':
      return asText(reason);
    case 'error':
      return asText(message);
    default:
      return undefined;
  }
}

/** Such as `pause (lunch) → paused`. */
function controlWords({ verb, reason, status }: TimelineEvent): string[] {
  const words = [asText(verb), asText(reason) && `(${asText(reason)})`];
  return [...words, asText(status) && `→ ${asText(status)}`].filter((word) => word !== undefined);
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
