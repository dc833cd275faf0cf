import { conversation, isOpen } from '@agent-gateway/client';
import type {
  AgentGateway,
  AgentStatus,
  Conversation,
  EntityAddress,
  Note,
  Turn,
} from '@agent-gateway/client';
import type { ReadState } from './live-store.ts';
import { sentAfter, sentTurn } from './sent-turn.ts';
import { TimelineStore } from './timeline-store.ts';

/** An agent as its page shows it. */
export interface AgentState extends ReadState {
  /** The turns, those last that are being sent. */
  turns: readonly Turn[];
  /** The turns, and whatever else happened in its place. */
  items: readonly (Turn | Note)[];
  /** `running` while a turn is open. Otherwise what the agent wrote last. */
  status: AgentStatus;
}

const EMPTY: AgentState = {
  turns: [],
  items: [],
  status: 'idle',
  connection: 'connecting',
  error: undefined,
};

export class AgentStore extends TimelineStore<AgentState> {
  #said: Conversation = conversation([]);
  #sent: Turn[] = [];
  #sending: Promise<unknown> = Promise.resolve();

  constructor(gateway: AgentGateway, agent: EntityAddress) {
    super(gateway, agent, EMPTY);
  }

  /**
   * Sends a message, after those that were sent before. Its turn is there at once. Never rejects: a failure is in the
   * turn and in `error`. A text without any characters is not sent.
   */
  readonly send = (message: string | object): Promise<void> => {
    if (typeof message === 'string' && message.trim() === '') return Promise.resolve();
    const requestId = newId();
    this.#sent.push(sentTurn(requestId, message));
    this.set({ error: undefined });
    const sent = this.#sending.then(() =>
      this.gateway.agents.send(this.agent, message, { requestId }).then(
        () => this.#update(requestId, { state: 'waiting' }),
        (error: Error) => {
          this.#update(requestId, { state: 'failed', error: error.message });
          this.set({ error });
        },
      ),
    );
    this.#sending = sent;
    return sent;
  };

  /** Interrupts what the agent does. Never rejects: a failure is in `error`. */
  readonly stop = (reason?: string): Promise<void> =>
    this.gateway.agents
      .control(this.agent, 'interrupt', reason === undefined ? {} : { reason })
      .then(
        () => this.set({ error: undefined }),
        (error: Error) => this.set({ error }),
      );

  protected next(state: AgentState): AgentState {
    const events = this.takeEvents();
    this.#said = conversation(events, this.#said);
    this.#sent = sentAfter(this.#sent, events);
    const { turns, items, status } = this.#said;
    const isRunning = status === 'idle' && this.#sent.some(isOpen);
    return {
      ...state,
      turns: this.#sent.length > 0 ? [...turns, ...this.#sent] : turns,
      items: this.#sent.length > 0 ? [...items, ...this.#sent] : items,
      status: isRunning ? 'running' : status,
    };
  }

  #update(requestId: string, change: Partial<Turn>): void {
    this.#sent = this.#sent.map((turn) =>
      turn.key === requestId && turn.state === 'sending' ? { ...turn, ...change } : turn,
    );
    this.changed();
  }
}

/** `crypto.randomUUID` is not there in pages served by plain HTTP. */
function newId(): string {
  const numbers = crypto.getRandomValues(new Uint32Array(4));
  return Array.from(numbers, (number) => number.toString(16).padStart(8, '0')).join('');
}
