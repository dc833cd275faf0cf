/** How a read waits for what is new: parked until it comes, or as an open stream of events. */
export type LiveMode = 'long-poll' | 'sse';

const LIVE = /[?&]live=([^&]*)/;
/** Electric names the stream of events beside `live=true`. */
const LIVE_SSE = /[?&](?:experimental_)?live_sse=true(?:&|$)/;

/**
 * The mode that a read's query asks for; undefined for one that is answered at once. Good for
 * telling durations apart, not for deciding anything: the upstream alone reads the query truly.
 */
export function liveModeOf(query: string): LiveMode | undefined {
  if (query === '') return undefined;
  const live = LIVE.exec(query)?.[1];
  if (live === undefined || live === 'false') return undefined;
  return live === 'sse' || LIVE_SSE.test(query) ? 'sse' : 'long-poll';
}
