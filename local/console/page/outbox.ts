import { APIError, type ControlVerb } from '../../../packages/client/src/index.ts';
import type { AgentAddress } from './agent-address.ts';
import { commandGateway, isConsoleDown, reasonOf } from './gateway.ts';

/**
 * `sending`: no answer yet, `why` says what went wrong meanwhile. `accepted`: the runtime has it. `refused`: the gateway
 * or the agent does not take it. `unsent`: the page was left before there was an answer. `ended`: its invocation is over,
 * and the timeline has nothing of it.
 */
export interface Sent {
  kind: 'sent';
  /** The request id, which is the key of its turn, too. */
  key: string;
  agent: AgentAddress;
  what: 'message' | ControlVerb;
  text: string;
  at: string;
  state: 'sending' | 'accepted' | 'refused' | 'unsent' | 'ended';
  why: string | undefined;
  invocationId: string | undefined;
}

const STORAGE = 'agent-console sent';
/** A verb that comes much later surprises. A message is tried until it is there. */
const VERB_RETRY_MS = 10_000;

/** What this tab has sent and what the timelines do not show yet. It survives a reload. */
export class Outbox {
  readonly #onChange: () => void;
  readonly #aborts = new Map<string, AbortController>();
  /** Messages of an agent go one after the other. */
  readonly #lines = new Map<string, Promise<void>>();
  #sent: Sent[] = stored();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  of({ type, id }: AgentAddress): Sent[] {
    return this.#sent.filter(({ agent }) => agent.type === type && agent.id === id);
  }

  send(agent: AgentAddress, what: Sent['what'], text: string): Sent {
    const at = new Date().toISOString();
    const key = crypto.randomUUID();
    const nothing = { why: undefined, invocationId: undefined };
    const sent: Sent = { kind: 'sent', key, agent, what, text, at, state: 'sending', ...nothing };
    this.#sent = [...this.#sent, sent];
    this.#queue(sent);
    this.#changed();
    return sent;
  }

  /** Repeats it with the same keys: if it has arrived before, it does not arrive twice. */
  again(key: string): void {
    const sent = this.#sent.find((one) => one.key === key);
    if (!sent) return;
    this.#change(key, { state: 'sending', why: undefined });
    this.#queue(sent);
  }

  /** Forgets it, and stops sending it. */
  forget(key: string): Sent | undefined {
    const sent = this.#sent.find((one) => one.key === key);
    if (!sent) return undefined;
    this.#aborts.get(key)?.abort();
    this.#sent = this.#sent.filter((one) => one !== sent);
    this.#changed();
    return sent;
  }

  /** The agent does not take it. */
  refuse(key: string, why: string): Sent | undefined {
    return this.#change(key, { state: 'refused', why });
  }

  /** Its invocation is not among the unfinished ones any more. */
  end(key: string): void {
    this.#change(key, { state: 'ended' });
  }

  #queue(sent: Sent): void {
    const place = `${sent.agent.type}/${sent.agent.id}`;
    if (sent.what !== 'message') return void this.#deliver(sent);
    const before = this.#lines.get(place) ?? Promise.resolve();
    this.#lines.set(
      place,
      before.then(() => this.#deliver(sent)),
    );
  }

  async #deliver({ key, agent, what, text }: Sent): Promise<void> {
    if (!this.#sent.some((one) => one.key === key)) return;
    const stop = new AbortController();
    this.#aborts.set(key, stop);
    const options = {
      requestId: key,
      idempotencyKey: key,
      signal: stop.signal,
      retryForMs: what === 'message' ? Infinity : VERB_RETRY_MS,
      onRetry: (error: APIError) => void this.#change(key, { why: reasonOf(error) }),
    };
    const address = `${agent.type}/${agent.id}`;
    try {
      const message = { kind: 'message', content: [{ type: 'text', text }] };
      const { invocationId } = await (what === 'message'
        ? commandGateway.agents.send(address, message, options)
        : commandGateway.agents.control(address, what, options));
      this.#change(key, { state: 'accepted', why: undefined, invocationId });
    } catch (error) {
      if (stop.signal.aborted) return;
      const isSaid = error instanceof APIError && !isConsoleDown(error) && error.isUndone;
      this.#change(key, { state: isSaid ? 'refused' : 'unsent', why: reasonOf(error) });
    } finally {
      this.#aborts.delete(key);
    }
  }

  #change(key: string, change: Partial<Sent>): Sent | undefined {
    const place = this.#sent.findIndex((one) => one.key === key);
    const sent = this.#sent[place];
    if (!sent) return undefined;
    const changed = { ...sent, ...change };
    this.#sent = this.#sent.with(place, changed);
    this.#changed();
    return changed;
  }

  #changed(): void {
    sessionStorage.setItem(STORAGE, JSON.stringify(this.#sent));
    this.#onChange();
  }
}

function stored(): Sent[] {
  const sent = JSON.parse(sessionStorage.getItem(STORAGE) ?? '[]') as Sent[];
  const why = 'This page was left before there was an answer.';
  return sent.map((one) => (one.state === 'sending' ? { ...one, state: 'unsent', why } : one));
}
