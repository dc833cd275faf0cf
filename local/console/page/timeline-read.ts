import type { LiveState } from '../../../packages/client/src/index.ts';
import type { AgentAddress } from './agent-address.ts';
import type { Event } from './event-text.ts';
import { readGateway, streamPrefix, type Settings } from './gateway.ts';

export interface TimelineRead {
  signal: AbortSignal;
  onState: (state: LiveState) => void;
  /** Events that arrive together come together. */
  onEvents: (events: Event[]) => void;
  /** All events come again, from the start. */
  onReset: () => void;
}

const BATCH_MS = 16;

/** Reads the timeline of an agent from its start until the signal, after which nothing is called. Rejects if it cannot be read. */
export async function readTimeline(
  settings: Settings,
  agent: AgentAddress,
  { signal, onState, onEvents, onReset }: TimelineRead,
): Promise<void> {
  let pending: Event[] = [];
  const flush = (): void => {
    const events = pending;
    pending = [];
    if (!signal.aborted) onEvents(events);
  };
  const read = readGateway(settings, streamPrefix(settings, agent)).timeline(
    `${agent.type}/${agent.id}`,
    {
      signal,
      onState: (state) => void (signal.aborted || onState(state)),
      onReset: () => void (signal.aborted || onReset()),
    },
  );
  await read
    .subscribe((given: unknown) => {
      if (pending.length === 0) setTimeout(flush, BATCH_MS);
      pending.push(asEvent(given));
    })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
}

/** Anyone with an API key may append, and not everyone appends objects. */
function asEvent(given: unknown): Event {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  return (isObject ? given : { kind: 'value', value: given }) as Event;
}
