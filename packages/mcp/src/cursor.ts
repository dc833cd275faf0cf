import type { Bookmark } from '@agent-gateway/client';

/** A place in a timeline as one word, for a model to hand back. */
export function cursorOf(bookmark: Bookmark): string {
  return Buffer.from(JSON.stringify(bookmark)).toString('base64url');
}

/** The place of a cursor. Throws a TypeError for any other text. */
export function bookmarkOf(cursor: string): Bookmark {
  try {
    const { offset, seq } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Bookmark;
    const isNumber = seq === undefined || Number.isSafeInteger(seq);
    if (typeof offset === 'string' && isNumber) return { offset, seq };
  } catch {
    // It is no JSON: see below.
  }
  throw new TypeError(
    'The cursor is none that read_timeline gave. Leave it out to read from the start.',
  );
}
