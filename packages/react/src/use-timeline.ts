import { useMemo, useSyncExternalStore } from 'react';
import type {
  AgentGateway,
  EntityAddress,
  TimelineEvent,
  TimelineOptions,
} from '@agent-gateway/client';
import { storeOf, type ReadState } from './live-store.ts';
import { TimelineStore } from './timeline-store.ts';

/** What `useTimeline` returns. */
export interface TimelineState extends ReadState {
  /** All events so far, in their order. */
  events: readonly TimelineEvent[];
}

class EventStore extends TimelineStore<TimelineState> {
  #isAnew = false;

  protected startOver(): void {
    this.#isAnew = true;
  }

  protected next(state: TimelineState): TimelineState {
    const news = this.takeEvents();
    const before = this.#isAnew ? [] : state.events;
    const isChanged = this.#isAnew || news.length > 0;
    this.#isAnew = false;
    return isChanged ? { ...state, events: [...before, ...news] } : state;
  }
}

/** The events of a timeline, from `start`, from `now` on, or from an offset. On a server there are none. */
export function useTimeline(
  gateway: AgentGateway,
  agent: EntityAddress,
  { from = 'start' }: { from?: Extract<TimelineOptions['from'], string> } = {},
): TimelineState {
  const address = typeof agent === 'string' ? agent : agent.url;
  const store = useMemo(() => {
    const empty: TimelineState = { events: [], connection: 'connecting', error: undefined };
    const make = (): EventStore => new EventStore(gateway, address, empty, from);
    return storeOf(gateway, `timeline ${from} ${address}`, make);
  }, [gateway, address, from]);
  return useSyncExternalStore(store.subscribe, store.getState, store.getServerState);
}
