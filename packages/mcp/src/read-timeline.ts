import { APIError, type AgentGateway, type AgentEvent, type Bookmark } from '@agent-gateway/client';
import { bookmarkOf, cursorOf } from './cursor.ts';

export interface ReadRequest {
  /** `type/id`. */
  agent: string;
  cursor?: string | undefined;
  waitSeconds: number;
  limit: number;
}

export interface TimelinePart {
  events: AgentEvent[];
  /** Where the next call continues. */
  cursor: string;
  /** Whether there are more events already. */
  hasMore: boolean;
}

/** The longest time for the events that exist, in milliseconds. */
const CATCH_UP_MS = 20_000;
/** After one of these the agent is still at work. */
const IN_BETWEEN = new Set(['message', 'word', 'reasoning', 'data', 'tool', 'decision', 'located']);
/** The reply has all words. The others are for a reader who looks on, and for one who looks for a turn. */
const LEFT_OUT = new Set(['word', 'reasoning', 'located']);

/**
 * The events behind the cursor. If there are none, those that come within the wait, until the agent has said or done what it does, or
 * asks a person. Single words of a reply are left out, because the reply has all of them, and so is what the model thought. Rejects with an `APIError`, or a TypeError for a
 * cursor that is none.
 */
export async function readTimeline(
  gateway: AgentGateway,
  { agent, cursor, waitSeconds, limit }: ReadRequest,
  cancelled: AbortSignal,
): Promise<TimelinePart> {
  const from: Bookmark | 'start' = cursor === undefined ? 'start' : bookmarkOf(cursor);
  const existing = await existingEvents(gateway, agent, from, limit, cancelled);
  if (existing !== undefined && (existing.events.length > 0 || waitSeconds === 0)) return existing;
  if (existing === undefined && waitSeconds === 0) throw notFound(agent);
  const next = existing === undefined ? from : bookmarkOf(existing.cursor);
  return comingEvents(gateway, agent, next, { waitSeconds, limit }, cancelled);
}

/** Undefined for a timeline that does not exist. */
async function existingEvents(
  gateway: AgentGateway,
  agent: string,
  from: Bookmark | 'start',
  limit: number,
  cancelled: AbortSignal,
): Promise<TimelinePart | undefined> {
  let failure: APIError | undefined;
  const failed = new AbortController();
  const events: AgentEvent[] = [];
  const timeline = gateway.timeline(agent, {
    from,
    live: false,
    onReset: () => (events.length = 0),
    waitForStream: false,
    signal: AbortSignal.any([cancelled, failed.signal, AbortSignal.timeout(CATCH_UP_MS)]),
    // The library would try again without end.
    onState: (state) => {
      if (state.name !== 'waiting') return;
      failure = state.error;
      failed.abort();
    },
  });
  let hasMore = false;
  try {
    for await (const event of timeline) {
      if (!LEFT_OUT.has(event.kind)) events.push(event);
      hasMore = events.length === limit;
      if (hasMore) break;
    }
  } catch (error) {
    if (error instanceof APIError && error.status === 404) return undefined;
    throw error;
  }
  if (failure) throw failure;
  return { events, cursor: cursorOf(timeline.bookmark), hasMore };
}

async function comingEvents(
  gateway: AgentGateway,
  agent: string,
  from: Bookmark | 'start',
  { waitSeconds, limit }: Pick<ReadRequest, 'waitSeconds' | 'limit'>,
  cancelled: AbortSignal,
): Promise<TimelinePart> {
  const signal = AbortSignal.any([cancelled, AbortSignal.timeout(waitSeconds * 1_000)]);
  const events: AgentEvent[] = [];
  const onReset = (): void => void (events.length = 0);
  const timeline = gateway.timeline(agent, { from, signal, onReset });
  for await (const event of timeline) {
    if (!LEFT_OUT.has(event.kind)) events.push(event);
    const isAsking = event.kind === 'tool' && event.state === 'waiting';
    if (!IN_BETWEEN.has(event.kind) || isAsking || events.length === limit) break;
  }
  return { events, cursor: cursorOf(timeline.bookmark), hasMore: false };
}

function notFound(agent: string): APIError {
  return new APIError(`${agent} has no timeline.`, { status: 404, code: 'not_found' });
}
