import { parseExactly } from '../output/json.ts';

export type StreamKind = 'json' | 'text' | 'binary';

/** What a read brought: the events of a JSON stream, or the bytes of another one. */
export interface StreamChunk {
  events: unknown[];
  bytes: Uint8Array;
  isEmpty: boolean;
}

export function streamKind(contentType: string): StreamKind {
  if (/^application\/json\b/i.test(contentType)) return 'json';
  return /^text\//i.test(contentType) ? 'text' : 'binary';
}

/** Throws `SyntaxError` where a JSON stream holds none. */
export function readChunk(kind: StreamKind, bytes: Uint8Array): StreamChunk {
  if (kind !== 'json') return { events: [], bytes, isEmpty: bytes.length === 0 };
  const text = new TextDecoder().decode(bytes).trim();
  const value = text === '' ? [] : parseExactly(text);
  const events = Array.isArray(value) ? value : [value];
  return { events, bytes, isEmpty: events.length === 0 };
}
