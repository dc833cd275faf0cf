/**
 * How far a request got. `nowhere`: it never had a connection, so that the upstream cannot have any of it.
 * `sent`: some of it may be there. `answered`: the first byte of an answer came back.
 */
export type Reached = 'nowhere' | 'sent' | 'answered';

/** An attempt at a request that brought no whole answer. */
export interface LostAttempt {
  reached: Reached;
  /** Its time was over. */
  isTimeout: boolean;
  /** Made twice it does no more than made once, and all of it is there to be sent once more. */
  isRepeatable: boolean;
}

/** RFC 9110 §9.2.2; a POST may have been acted on although its connection broke. */
const IDEMPOTENT_METHODS: ReadonlySet<string | undefined> = new Set([
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
]);

export function isIdempotent(method: string | undefined): boolean {
  return IDEMPOTENT_METHODS.has(method);
}

/**
 * Whether the upstream had most likely closed a kept connection when the request came: that tells nothing of
 * whether it is there, and is no failure of the request where that may be sent again.
 */
export function isStale(reached: Reached, wasKept: boolean): boolean {
  return wasKept && reached !== 'answered';
}

/** Whether another attempt does no harm and may go better: an answer that cannot be used would come again. */
export function maySendAgain({ reached, isTimeout, isRepeatable }: LostAttempt): boolean {
  if (reached === 'nowhere') return true;
  return isRepeatable && (isTimeout || reached === 'sent');
}
