import { useMemo, useSyncExternalStore } from 'react';
import type { AgentGateway, EntityAddress, ToolCall, Turn } from '@agent-gateway/client';
import { AgentStore, type AgentState, type CallDecision } from './agent-store.ts';
import { storeOf } from './live-store.ts';

/** The state of an agent, and what a page does with it. */
export interface UseAgent extends AgentState {
  /**
   * Sends a message. Its turn is there at once, in the state `sending`, and keeps its key. Never rejects: a failure is
   * in the turn and in `error`.
   */
  send: (message: string | object) => Promise<void>;
  /**
   * Ends a turn and no other, by default the one under way. Never rejects: a failure is in `error`. An agent that does not
   * name its turns is interrupted, whatever turn it is in.
   */
  stop: (turn?: Pick<Turn, 'key'>, reason?: string) => Promise<void>;
  /** Takes a message back that waits for other turns. Never rejects: a failure is in `error`. */
  withdraw: (turn: Pick<Turn, 'key'>, reason?: string) => Promise<void>;
  /** Decides a call of a tool that waits for a person. Never rejects: a failure is in `error`. */
  decide: (call: string | Pick<ToolCall, 'id'>, decision: CallDecision) => Promise<void>;
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
  const { send, stop, withdraw, decide } = store;
  return { ...state, send, stop, withdraw, decide };
}
