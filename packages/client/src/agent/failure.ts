/** What readers of the timeline may know of an error. Undefined: only that it failed. */
export type PublicReason = (error: unknown) => string | undefined;

const MAX_REASON_LENGTH = 500;
const MAX_DETAIL_LENGTH = 8_192;
const MAX_CAUSES = 8;

/** The message of an error, for the model and for the author's own log. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** An error with its causes and stacks, for an operator. */
export function detailOf(error: unknown): string {
  const lines: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; cause !== undefined && depth < MAX_CAUSES; depth += 1) {
    const text = cause instanceof Error ? (cause.stack ?? messageOf(cause)) : messageOf(cause);
    lines.push(depth === 0 ? text : `caused by: ${text}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join('\n').slice(0, MAX_DETAIL_LENGTH);
}

/** What the timeline says of an error: the author's words, or that it failed. */
export function publicWords(
  reasonOf: PublicReason | undefined,
  error: unknown,
  otherwise: string,
): string {
  let words: unknown;
  try {
    words = reasonOf?.(error);
  } catch {
    // A fault in this function must not end the answer.
  }
  return typeof words === 'string' && words !== '' ? words.slice(0, MAX_REASON_LENGTH) : otherwise;
}
