import {
  conversation,
  isOpen,
  type AgentEvent,
  type Conversation,
  type Turn,
} from '../../../client/src/index.ts';

/** The conversation up to the latest event, of which only the open turns are kept. */
export class SoFar {
  #conversation: Conversation | undefined;

  /** The open turn to which the next event belongs. */
  turnOf(event: AgentEvent): Turn | undefined {
    const { replyTo } = event as { replyTo?: unknown };
    return this.#conversation?.turns.find(({ seq }) => seq === replyTo);
  }

  /** @returns what is wrong with the number of the event, in words; undefined where nothing is. */
  add(event: AgentEvent): string | undefined {
    const before = this.#conversation;
    const after = conversation([event], before);
    if (after === before) return `Event ${event.seq} comes again, or out of order.`;
    // A timeline can have a million events, and the ended turns have been printed.
    const open = after.turns.filter(isOpen);
    this.#conversation = { ...after, turns: open, items: open };
    const gap = after.items.findLast((item) => item.kind === 'note' && item.gap);
    return gap?.kind === 'note' && gap.gap ? inWords(gap.gap) : undefined;
  }
}

function inWords([first, last]: readonly [number, number]): string {
  return `Gap: ${first === last ? `event ${first} is` : `events ${first} to ${last} are`} missing.`;
}
