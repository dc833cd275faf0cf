/**
 * How far a request got. `nowhere`: it had no connection, so the upstream cannot have any of it. `sent`: the
 * upstream may have a part of it. `answered`: the first byte of a response arrived.
 */
export type Reached = 'nowhere' | 'sent' | 'answered';

/** An attempt at a request without a complete response. */
export interface LostAttempt {
  reached: Reached;
  /** Whether the request is idempotent and all of it is available to be sent again. */
  isRepeatable: boolean;
  /** Whether the response that it got may be another one next time. */
  mayPass?: boolean;
}

/** RFC 9110 §9.2.2. A POST may have been processed although its connection broke. */
const IDEMPOTENT_METHODS: ReadonlySet<string | undefined> = new Set([
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
]);

export function isIdempotent(method: string | undefined): boolean {
  return IDEMPOTENT_METHODS.has(method);
}

/** Whether another attempt is safe and may succeed. An invalid response would come again. */
export function maySendAgain({ reached, isRepeatable, mayPass = false }: LostAttempt): boolean {
  if (reached === 'nowhere') return true;
  return isRepeatable && (mayPass || reached === 'sent');
}
