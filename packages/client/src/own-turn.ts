import type { AcceptedCommand } from './agents.ts';
import type { AgentEvent } from './events.ts';
import { isObject, isOpen, newTurn, turnAfter, turnOf, type Turn } from './turn.ts';

/** The command whose turn is meant. */
export type OwnCommand = Pick<AcceptedCommand, 'requestId' | 'invocationId'>;

/**
 * Whether an event names the command: by the invocation id, which the command has also when it is repeated, or by the
 * request id, where the agent writes no other. Anyone with a key may append anything, also what is no object.
 */
export function isNamedBy(event: unknown, { requestId, invocationId }: OwnCommand): boolean {
  const named = (event ?? {}) as { invocationId?: unknown; requestId?: unknown };
  return typeof named.invocationId === 'string'
    ? named.invocationId === invocationId
    : named.requestId === requestId;
}

/**
 * The turn of one command after an event, undefined if the event is not of that turn. Others may talk to the agent
 * too: the first event of the turn names the command, and the next ones the number of the message.
 */
export function ownTurnAfter(
  turn: Turn | undefined,
  event: AgentEvent,
  command: OwnCommand,
): Turn | undefined {
  if (!isObject(event)) return undefined;
  const isNamed = isNamedBy(event, command);
  const { requestId } = command;
  if (turn) {
    const { replyTo, invocationId } = event as { replyTo?: unknown; invocationId?: unknown };
    if (event.kind === 'message') {
      // After a restore the message comes again, and the turn begins again.
      const isAgain = isNamed && invocationId !== undefined && isOpen(turn);
      return isAgain ? turnOf(requestId, event) : undefined;
    }
    const isOfTurn = replyTo !== undefined && replyTo === turn.seq;
    const isFailure = event.kind === 'error' && replyTo !== undefined && invocationId !== undefined;
    const isEnd = isNamed && (event.kind === 'refused' || isFailure);
    return isOfTurn || isEnd ? (turnAfter(turn, event) ?? turn) : undefined;
  }
  if (!isBeginOf(event, command)) return undefined;
  return event.kind === 'message'
    ? turnOf(requestId, event)
    : turnAfter(newTurn(requestId, event.seq, event.at), event);
}

/** Whether it is the first event of the command's turn: its message, or why there is none. */
export function isBeginOf(event: unknown, command: OwnCommand): boolean {
  const { kind } = (event ?? {}) as { kind?: unknown };
  return (
    (kind === 'message' || kind === 'refused' || kind === 'error') && isNamedBy(event, command)
  );
}
