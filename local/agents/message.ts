import {
  decodeText,
  isObject,
  isTooDeep,
  parseJson,
} from '../../packages/client/src/agent/index.ts';
import type { Json } from '../../packages/client/src/agent/index.ts';

export interface Message {
  content: Json[];
  /** The text parts of the content, for an agent that only reads text. */
  text: string;
}

export type ReadMessage = { message: Message } | { problem: string };

/**
 * Reads what a client sent. The gateway forwards any bytes unchanged. If a handler threw on them, Restate would
 * retry it forever and block every later message, so this never throws.
 *
 * Taken: `{"kind":"message","content":[parts]}`, and as shorthand a `content` that is a text, a JSON text, or
 * plain text.
 */
export function readMessage(body: Uint8Array): ReadMessage {
  try {
    return interpret(body);
  } catch {
    return { problem: 'the message is neither JSON nor text in UTF-8' };
  }
}

function interpret(body: Uint8Array): ReadMessage {
  const plain = decodeText(body).trim();
  if (plain === '') return { problem: 'the message is empty' };
  let value: Json;
  try {
    value = parseJson(body);
  } catch {
    // A sender who begins like this means JSON and would not expect literal text.
    if (/^[[{"]/.test(plain)) return { problem: 'the message is broken JSON' };
    return { message: textMessage(plain) };
  }
  if (typeof value === 'string') return { message: textMessage(value) };
  if (!isObject(value)) {
    return { problem: 'the message must be an object with content, or a text' };
  }
  const { kind = 'message', content } = value;
  if (kind !== 'message') return { problem: 'the kind of a message must be "message"' };
  if (typeof content === 'string') return { message: textMessage(content) };
  if (!Array.isArray(content) || !content.every(isObject)) {
    return { problem: 'the content of a message must be a list of parts, or a text' };
  }
  if (isTooDeep(content)) return { problem: 'the content of the message is nested too deep' };
  return { message: { content, text: textOf(content) } };
}

function textMessage(text: string): Message {
  return { content: [{ type: 'text', text }], text };
}

function textOf(parts: { [name: string]: Json }[]): string {
  return parts
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
    .join(' ');
}
