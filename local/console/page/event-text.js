import { agentLink } from './agent-link.js';

const STANDARD_FIELDS = ['seq', 'at', 'kind', 'requestId', 'replyTo'];

/** What an event says, as a text or an element. Kinds that are not known here say all they have. */
export function eventText(event) {
  switch (event.kind) {
    case 'message':
    case 'reply':
      return contentText(event.content);
    case 'word':
      return event.text;
    case 'control':
      return [event.verb, event.reason && `(${event.reason})`, '→', event.status]
        .filter(Boolean)
        .join(' ');
    case 'interrupted':
      return `after ${event.wordsSaid} words`;
    case 'child':
      return agentLink(event.url);
    case 'rejected':
      return event.reason;
    case 'error':
      return event.message;
    default:
      return otherFields(event);
  }
}

function contentText(content) {
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content
    .map((part) => (part?.type === 'text' ? part.text : JSON.stringify(part)))
    .join('\n');
}

function otherFields(event) {
  const entries = Object.entries(event).filter(([name]) => !STANDARD_FIELDS.includes(name));
  return entries.map(([name, value]) => `${name}: ${plain(value)}`).join(', ');
}

function plain(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
