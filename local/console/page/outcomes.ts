import type { Conversation } from '../../../packages/client/src/index.ts';
import type { AgentAddress } from './agent-address.ts';
import { plain, type Event } from './event-text.ts';
import { notice } from './notice.ts';
import type { Outbox, Sent } from './outbox.ts';

/** The stopped reply comes right after the verb. One that is later on a busy machine corrects what was said. */
const REPLY_WITHIN_MS = 1_500;

/** Reports what became of the commands of this page, from the events that name their requests. */
export class Outcomes {
  readonly #outbox: Outbox;
  /** Interrupts that the agent has applied, until it is known that they stopped something. */
  readonly #stops = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  take(agent: AgentAddress, events: readonly Event[], { turns }: Conversation): void {
    const sent = new Map(this.#outbox.of(agent).map((one) => [one.key, one]));
    for (const event of events) {
      const { kind, requestId, stopped, replyTo } = event;
      const stop = (stopped as { requestId?: unknown } | undefined)?.requestId;
      const timer = this.#stops.get(plain(stop));
      if (timer !== undefined) {
        clearTimeout(timer);
        this.#stops.delete(plain(stop));
        const message = turns.find(({ seq }) => seq === replyTo)?.message?.text ?? '';
        notice(`Interrupted the answer to “${message.slice(0, 40)}”.`);
      }
      const command = sent.get(plain(requestId));
      if (command) this.#settle(command, kind, event);
    }
  }

  #settle(command: Sent, kind: string, { reason, message, status }: Event): void {
    const { key, what } = command;
    const name = what === 'message' ? 'The message' : `“${what}”`;
    if (kind === 'refused' || kind === 'error') {
      const why = plain(kind === 'error' ? message : reason);
      this.#outbox.refuse(key, `${why}.`);
      notice(`${name} was refused by the agent: ${why}.`, 'failed');
      return;
    }
    this.#outbox.forget(key);
    if (what === 'message') return;
    if (what !== 'interrupt') return notice(`${name} has been applied: ${plain(status)}.`);
    const timer = setTimeout(
      () => notice('Interrupt: there was no answer under way.'),
      REPLY_WITHIN_MS,
    );
    this.#stops.set(key, timer);
  }
}
