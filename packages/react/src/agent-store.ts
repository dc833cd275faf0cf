import { conversation, isOpen } from '@agent-gateway/client';
import type {
  AcceptedCommand,
  AgentGateway,
  AgentStatus,
  Conversation,
  EntityAddress,
  Note,
  ToolCall,
  Turn,
} from '@agent-gateway/client';
import type { ReadState } from './live-store.ts';
import { sentAfter, sentTurn } from './sent-turn.ts';
import { TimelineStore } from './timeline-store.ts';

/** An agent as its page shows it. */
export interface AgentState extends ReadState {
  /** The turns, those last that are being sent. */
  turns: readonly Turn[];
  /** The turns that wait for others to end, the next one first. */
  queued: readonly Turn[];
  /** The turns, and whatever else happened in its place. */
  items: readonly (Turn | Note)[];
  /**
   * `running` while a turn is open, `waiting` while a call of a tool waits for a person, `failed` if the last turn failed for good.
   * Otherwise what the agent wrote last.
   */
  status: AgentStatus;
}

/** What a person decides about a call that waits. */
export interface CallDecision {
  approved: boolean;
  /** For the readers of the timeline, and for the model if the call is denied. */
  note?: string;
}

const EMPTY: AgentState = {
  turns: [],
  queued: [],
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
        ({ invocationId: id }) => this.#update(requestId, { state: 'waiting', id }),
        (error: Error) => {
          this.#update(requestId, { state: 'failed', error: error.message });
          this.set({ error });
        },
      ),
    );
    this.#sending = sent;
    return sent;
  };

  /**
   * Ends a turn and no other, by default the one under way. Never rejects: a failure is in `error`. An agent that does not
   * name its turns is interrupted, whatever turn it is in.
   */
  readonly stop = (turn?: Pick<Turn, 'key'>, reason?: string): Promise<void> =>
    this.#tell(async ({ agents }) => {
      const meant = await this.#sentTurn(turn ?? this.#underWay());
      if (!meant || !isOpen(meant)) return;
      const options = reason === undefined ? {} : { reason };
      await (meant.id === undefined
        ? agents.control(this.agent, 'interrupt', options)
        : agents.stop(this.agent, meant.id, options));
    });

  /** Takes a message back that waits for other turns. Never rejects: a failure is in `error`. */
  readonly withdraw = (turn: Pick<Turn, 'key'>, reason?: string): Promise<void> =>
    this.#tell(async ({ agents }) => {
      const meant = await this.#sentTurn(turn);
      if (!meant || !isOpen(meant)) return;
      if (meant.id === undefined) throw new Error('This agent takes no message back.');
      await agents.withdraw(this.agent, meant.id, reason === undefined ? {} : { reason });
    });

  /** Decides a call of a tool that waits. Never rejects: a failure is in `error`. */
  readonly decide = (
    call: string | Pick<ToolCall, 'id'>,
    { approved, note }: CallDecision,
  ): Promise<void> =>
    this.#tell(({ agents }) =>
      agents.decide(this.agent, {
        call: typeof call === 'string' ? call : call.id,
        approved,
        ...(note !== undefined && { note }),
      }),
    );

  async #tell(command: (gateway: AgentGateway) => Promise<AcceptedCommand | void>): Promise<void> {
    await command(this.gateway).then(
      () => this.set({ error: undefined }),
      (error: Error) => this.set({ error }),
    );
  }

  #underWay(): Turn | undefined {
    const open = this.getState().turns.filter(isOpen);
    return open.find(({ state }) => state !== 'queued' && state !== 'sending') ?? open[0];
  }

  /** The turn as it is now, once its message has been sent: only then it may have a name. */
  async #sentTurn(turn: Pick<Turn, 'key'> | undefined): Promise<Turn | undefined> {
    const find = () => this.getState().turns.find(({ key }) => key === turn?.key);
    if (find()?.state !== 'sending') return find();
    await this.#sending;
    this.set({});
    return find();
  }

  protected startOver(): void {
    this.#said = conversation([]);
  }

  protected next(state: AgentState): AgentState {
    const events = this.takeEvents();
    this.#said = conversation(events, this.#said);
    const { turns, queued, items, status } = this.#said;
    const named = new Set(this.#sent.length > 0 ? turns.map(({ id }) => id) : []);
    this.#sent = sentAfter(this.#sent, events).filter(
      ({ id }) => id === undefined || !named.has(id),
    );
    const isRunning = (status === 'idle' || status === 'failed') && this.#sent.some(isOpen);
    return {
      ...state,
      turns: this.#sent.length > 0 ? [...turns, ...this.#sent] : turns,
      queued,
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
