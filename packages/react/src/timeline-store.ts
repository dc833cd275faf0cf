import type {
  AgentGateway,
  Bookmark,
  EntityAddress,
  LiveState,
  TimelineEvent,
  TimelineOptions,
} from '@agent-gateway/client';
import { LiveStore, type ReadState } from './live-store.ts';

/** Reads a timeline, each event once, also if it is left and read again later. */
export abstract class TimelineStore<State extends ReadState> extends LiveStore<State> {
  protected readonly gateway: AgentGateway;
  protected readonly agent: EntityAddress;
  /** What was read and is not in the state yet. */
  protected events: TimelineEvent[] = [];
  #from: TimelineOptions['from'] | Bookmark;

  constructor(
    gateway: AgentGateway,
    agent: EntityAddress,
    empty: State,
    from: TimelineOptions['from'] = 'start',
  ) {
    super(empty);
    this.gateway = gateway;
    this.agent = agent;
    this.#from = from;
  }

  protected async read(signal: AbortSignal, onState: (state: LiveState) => void): Promise<void> {
    const onReset = (): void => {
      this.events = [];
      this.startOver();
      this.changed();
    };
    const read = { from: this.#from, signal, onState, onReset };
    const timeline = this.gateway.timeline(this.agent, read);
    for await (const event of timeline) {
      if (signal.aborted) return;
      this.events.push(event);
      this.#from = timeline.bookmark;
      this.changed();
    }
  }

  /** Forgets all events: they come again from the start. */
  protected abstract startOver(): void;

  protected takeEvents(): TimelineEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}
