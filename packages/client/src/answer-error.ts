import { APIError } from './api-error.ts';
import type { Stop } from './events.ts';
import type { Invocation } from './invocations.ts';
import type { Turn } from './turn.ts';

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
   * `stopped`: by a stop, a withdrawal, an interrupt or an archive. `refused`, `archived`: the agent refused the message, as an archived one
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

/** Why a turn has no complete reply. */
export function errorOf(turn: Turn, requestId: string): AnswerError {
  const { state, error = '', text, stoppedBy } = turn;
  if (state === 'stopped') {
    const reason = stoppedBy?.reason === undefined ? '' : `: ${stoppedBy.reason}`;
    const message = `${stopInWords(stoppedBy?.verb)}${reason}`;
    return new AnswerError(message, { code: 'stopped', requestId, text, stoppedBy });
  }
  if (state === 'refused') {
    const code = error === 'archived' ? 'archived' : 'refused';
    return new AnswerError(`The agent refused the message: ${error}`, { code, requestId });
  }
  return new AnswerError(`The agent failed: ${error}`, { code: 'failed', requestId, text });
}

function stopInWords(verb: Stop['verb'] | undefined): string {
  if (verb === 'withdraw') return 'The message was withdrawn';
  const isVerb = verb === 'interrupt' || verb === 'archive';
  return `The answer was stopped${isVerb ? ` by an ${verb}` : ''}`;
}

/** What is known of an agent that did not begin. */
export interface Delay {
  /** The words of its timeline and of its row in the catalog. */
  reasons: readonly string[];
  /** Whether it has written the message. */
  isNoted: boolean;
  /** What Restate has, where the key may ask. */
  invocations: readonly Invocation[] | undefined;
}

/** Says why an agent did not begin. */
export function notAnswered(
  timeoutMs: number,
  requestId: string | undefined,
  { reasons, isNoted, invocations }: Delay,
): AnswerError {
  const late = `The agent did not begin to answer within ${timeoutMs} ms`;
  const why = reasons.length > 0 ? reasons.join('; ') : reasonIn(invocations, isNoted);
  return new AnswerError(`${late}${why && `: ${why}`}.`, {
    code: 'not_answered',
    requestId,
    invocations,
  });
}

function reasonIn(invocations: readonly Invocation[] | undefined, isNoted: boolean): string {
  if (!invocations) return '';
  // The invocations of an agent run one after the other, and the oldest is the first.
  const busy = invocations.find(({ status }) => status !== 'pending') ?? invocations[0];
  if (!busy) {
    return isNoted
      ? 'it has noted the message, and no invocation of it is under way'
      : 'it has handled the message, but has written no event that names the request';
  }
  const { target, status, tries, lastFailure } = busy;
  return lastFailure === undefined
    ? `${target} is ${status}`
    : `${target} is ${status} after ${tries} tries: ${lastFailure}`;
}
