export type { AgentState, CallDecision } from './agent-store.ts';
export type { ReadState } from './live-store.ts';
export { useAgent, type UseAgent } from './use-agent.ts';
export { useCatalog, type CatalogQuery, type CatalogState } from './use-catalog.ts';
export { useTimeline, type TimelineState } from './use-timeline.ts';
