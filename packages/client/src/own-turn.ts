import type { AgentEvent } from './events.ts';
import { messageOf, newTurn, turnAfter, type Turn } from './turn.ts';

/**
 * The turn of one command after an event, undefined if the event is not of that turn. Others may talk to the agent
 * too: the first event of the turn names the request, and the next ones the number of the message.
 */
export function ownTurnAfter(
  turn: Turn | undefined,
  event: AgentEvent,
  requestId: string,
): Turn | undefined {
  // Anyone with a key may append anything, also what is no object.
  const { requestId: named, replyTo } = event as { requestId?: unknown; replyTo?: unknown };
  const isNamed = named === requestId;
  if (turn) {
    const isOfTurn = replyTo !== undefined && replyTo === turn.seq;
    const isRefusal = event.kind === 'refused' && isNamed;
    return isOfTurn || isRefusal ? (turnAfter(turn, event) ?? turn) : undefined;
  }
  if (!isNamed) return undefined;
  const begun = newTurn(requestId, event.seq, event.at);
  if (event.kind === 'message') return { ...begun, message: messageOf(event) };
  return event.kind === 'refused' || event.kind === 'error' ? turnAfter(begun, event) : undefined;
}
