import { useMemo, useSyncExternalStore } from 'react';
import type { AgentGateway, EntityAddress } from '@agent-gateway/client';
import { AgentStore, type AgentState } from './agent-store.ts';
import { storeOf } from './live-store.ts';

/** The state of an agent, and what a page does with it. */
export interface UseAgent extends AgentState {
  /**
   * Sends a message. Its turn is there at once, in the state `sending`, and keeps its key. Never rejects: a failure is
   * in the turn and in `error`.
   */
  send: (message: string | object) => Promise<void>;
  /** Interrupts what the agent does. Never rejects: a failure is in `error`. */
  stop: (reason?: string) => Promise<void>;
}

/**
 * An agent: its turns as they come, its status, and what its page does with it. All components with the same client
 * and agent share one read, which lasts as long as one of them is mounted. On a server the state is empty.
 */
export function useAgent(gateway: AgentGateway, agent: EntityAddress): UseAgent {
  const address = typeof agent === 'string' ? agent : agent.url;
  const store = useMemo(
    () => storeOf(gateway, `agent ${address}`, () => new AgentStore(gateway, address)),
    [gateway, address],
  );
  const state = useSyncExternalStore(store.subscribe, store.getState, store.getServerState);
  return { ...state, send: store.send, stop: store.stop };
}
