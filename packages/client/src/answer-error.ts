import { APIError } from './api-error.ts';
import type { Stop } from './events.ts';
import type { Invocation } from './invocations.ts';

/** Why there is no complete reply; see `AnswerError.code`. */
export type AnswerErrorCode = 'stopped' | 'refused' | 'archived' | 'failed' | 'not_answered';

interface AnswerErrorDetails {
  code: AnswerErrorCode;
  requestId?: string | undefined;
  text?: string | undefined;
  stoppedBy?: Stop | undefined;
  invocations?: readonly Invocation[] | undefined;
}

/** The agent gave no complete reply. */
export class AnswerError extends APIError {
  override readonly name = 'AnswerError';
  /**
   * `stopped`: by an interrupt or archive. `refused`, `archived`: the agent refused the message, as an archived one
   * does. `failed`: it wrote an error. `not_answered`: it did not begin in time.
   */
  declare readonly code: AnswerErrorCode;
  /** What the agent had said. */
  readonly text: string;
  /** The command that stopped it, for `stopped`. */
  readonly stoppedBy: Stop | undefined;
  /** For `not_answered`: the agent's unfinished invocations, where the key may list them. */
  readonly invocations: readonly Invocation[];

  constructor(message: string, details: AnswerErrorDetails) {
    super(message, details);
    this.text = details.text ?? '';
    this.stoppedBy = details.stoppedBy;
    this.invocations = details.invocations ?? [];
  }
}

/** Says why an agent did not begin, as far as its unfinished invocations tell. */
export function notAnswered(
  timeoutMs: number,
  requestId: string | undefined,
  invocations: readonly Invocation[] | undefined,
): AnswerError {
  const late = `The agent did not begin to answer within ${timeoutMs} ms`;
  return new AnswerError(`${late}${reasonIn(invocations)}.`, {
    code: 'not_answered',
    requestId,
    invocations,
  });
}

function reasonIn(invocations: readonly Invocation[] | undefined): string {
  if (!invocations) return '';
  // The invocations of an agent run one after the other, and the oldest is the first.
  const busy = invocations.find(({ status }) => status !== 'pending') ?? invocations[0];
  if (!busy) {
    return ': it has handled the message, but has written no event that names the request';
  }
  const { target, status, tries, lastFailure } = busy;
  return lastFailure === undefined
    ? `: ${target} is ${status}`
    : `: ${target} is ${status} after ${tries} tries: ${lastFailure}`;
}
