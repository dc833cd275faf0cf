import type { Invocation } from '../../../packages/client/src/index.ts';
import type { AgentAddress } from './agent-address.ts';
import { failureOf, type Failure } from './agent-list.ts';
import { byId } from './element.ts';
import { commandGateway, ONCE } from './gateway.ts';
import { InvocationList, isFailing } from './invocation-list.ts';
import type { Outbox } from './outbox.ts';

const EVERY_MS = 2_000;
/** One look may come between the end of an invocation and its last event. */
const LOOKS_BEFORE_END = 2;

/** The invocations of one agent that have not ended, as a list, and what they say of its failure and its messages. */
export class AgentInvocations {
  readonly #list = new InvocationList(byId('agent-invocations'));
  readonly #tab = byId('show-invocations');
  readonly #outbox: Outbox;
  /** How often the invocation of an accepted message was not among the unfinished ones. */
  readonly #misses = new Map<string, number>();
  #invocations: readonly Invocation[] = [];

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  get isEmpty(): boolean {
    return this.#invocations.length === 0;
  }

  /** The failure of the one with most attempts. */
  get failure(): Failure | undefined {
    const [worst] = this.#invocations.filter(isFailing).toSorted((a, b) => b.tries - a.tries);
    return worst && failureOf(worst);
  }

  find(id: string | undefined): Invocation | undefined {
    return this.#invocations.find((one) => one.id === id);
  }

  clear(): void {
    this.#misses.clear();
    this.#list.clear();
    this.#show([]);
  }

  /** Asks every few seconds, and calls `onChange` after each response. Resolves after the signal. */
  async watch(agent: AgentAddress, signal: AbortSignal, onChange: () => void): Promise<void> {
    while (!signal.aborted) {
      if (!document.hidden) {
        const call = { ...ONCE, signal, agent: `${agent.type}/${agent.id}` };
        // The status line says what is wrong.
        const found = await commandGateway.invocations.list(call).catch(() => undefined);
        if (signal.aborted) return;
        if (found) {
          this.#show(found);
          onChange();
        }
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  /** Tells the outbox which accepted messages have ended. Their events must have been read. */
  endSent(agent: AgentAddress): void {
    for (const { key, state, invocationId } of this.#outbox.of(agent)) {
      if (state !== 'accepted') continue;
      const misses = this.find(invocationId) ? 0 : (this.#misses.get(key) ?? 0) + 1;
      this.#misses.set(key, misses);
      if (misses > LOOKS_BEFORE_END) this.#outbox.end(key);
    }
  }

  #show(found: readonly Invocation[]): void {
    this.#invocations = found;
    this.#list.show(found);
    this.#tab.textContent = found.length === 0 ? 'Invocations' : `Invocations ${found.length}`;
    this.#tab.classList.toggle('bad', found.some(isFailing));
  }
}
