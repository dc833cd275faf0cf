import type { MessageHead } from './message-reader.ts';

/** The response header in which the upstream repeats the id of the request. */
export const answerHeader = 'x-answer-for';

const BLOCK_BYTES = 65_536;
const blocks = new Map<string, Buffer>();

/** The block of bytes that the bodies for an id repeat. */
export function patternUnit(id: string, kind: PatternKind): string {
  switch (kind) {
    case 'text':
      return `<${id}>`;
    case 'events':
      return `data: <${id}>\n\nevent: control\ndata: {"streamNextOffset":"<${id}>"}\n\n`;
    case 'command':
      return `{"invocationId":"inv_${id}","status":"Accepted"}`;
  }
}

export type PatternKind = 'text' | 'events' | 'command';

/** The bytes of a body from an offset on, at least one and at most a block. */
export function patternBytes(id: string, kind: PatternKind, from: number, end: number): Buffer {
  const unitBytes = patternUnit(id, kind).length;
  const at = from % unitBytes;
  return blockOf(id, kind).subarray(at, Math.min(at + end - from, BLOCK_BYTES));
}

/** Whether a piece of a body is correct at its offset. */
export function isPatternOf(id: string, head: MessageHead, piece: Buffer, from: number): boolean {
  const isEvents = head.headers.some(
    ([name, value]) => name === 'content-type' && value === EVENTS,
  );
  const kind = isEvents ? 'events' : 'text';
  for (let at = 0; at < piece.length;) {
    const expected = patternBytes(id, kind, from + at, from + piece.length);
    if (!piece.subarray(at, at + expected.length).equals(expected)) return false;
    at += expected.length;
  }
  return true;
}

/** Releases the blocks of a round. */
export function forgetPatterns(): void {
  blocks.clear();
}

export const EVENTS = 'text/event-stream';

function blockOf(id: string, kind: PatternKind): Buffer {
  const key = `${kind} ${id}`;
  let block = blocks.get(key);
  if (!block) {
    const unit = patternUnit(id, kind);
    block = Buffer.from(unit.repeat(Math.ceil((2 * BLOCK_BYTES) / unit.length)));
    blocks.set(key, block);
  }
  return block;
}
