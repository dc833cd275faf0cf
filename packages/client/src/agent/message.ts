import { textOf, type Part } from '../events.ts';
import { decodeText, isObject, isTooDeep, parseJson } from './json.ts';
import type { Json } from './json.ts';

/** A message that was read. */
export interface Message {
  content: Part[];
  /** The text parts of the content, a line each. */
  text: string;
}

/** `problem` says what is wrong with a message that cannot be read. */
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
  if (!Array.isArray(content) || !content.every(isPart)) {
    return { problem: 'the content of a message must be a list of parts, or a text' };
  }
  if (isTooDeep(content)) return { problem: 'the content of the message is nested too deep' };
  return { message: { content, text: textOf(content) } };
}

function isPart(part: Json): part is Part & { [name: string]: Json } {
  return isObject(part) && typeof part.type === 'string';
}

function textMessage(text: string): Message {
  return { content: [{ type: 'text', text }], text };
}
