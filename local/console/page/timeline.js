import { stream } from '/clients/durable-streams.js';
import { ReadToken } from './read-token.js';
import { watchedFetch } from './watched-fetch.js';

const BACKOFF = { initialDelay: 200, maxDelay: 5_000, multiplier: 1.5 };
const MAX_PAUSE_MS = 5_000;

/**
 * Follows a timeline from its start until the signal aborts.
 *
 * The client retries what fails by the network or by a server (429, 503, 5xx) and renews an event
 * stream that ended with its token. Any other error of a live read only rejects `closed`: its
 * `onError` is for the first request alone. So this starts again, from the last offset it was given.
 */
export async function followTimeline(
  { gatewayUrl, tenant, type, id },
  { onEvents, report, signal },
) {
  const agentPath = `/streams/t/${tenant}/agents/${type}/${id}`;
  const reportUntilAborted = (news) => signal.aborted || report(news);
  const token = new ReadToken(agentPath, reportUntilAborted);
  let offset = '-1';
  let pauseMs = 0;
  while (!signal.aborted) {
    let isOver = false;
    const read = new AbortController();
    try {
      const response = await stream({
        url: `${gatewayUrl}${agentPath}/timeline`,
        offset,
        live: 'sse',
        json: true,
        headers: { Authorization: () => token.authorization() },
        fetch: watchedFetch(reportUntilAborted),
        backoffOptions: BACKOFF,
        signal: AbortSignal.any([signal, read.signal]),
        warnOnHttp: false,
      });
      response.subscribeJson((batch) => {
        // `closed` can reject before the last batch gets here: the next read brings it again.
        if (isOver || signal.aborted) return;
        offset = batch.offset;
        pauseMs = 0;
        onEvents(batch.items);
      });
      await response.closed;
    } catch (error) {
      // A 404 is no reason to stop: a spawn is answered before the agent has written anything.
      if (error.status === 401) token.drop();
    }
    isOver = true;
    read.abort();
    if (signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2 + 250, MAX_PAUSE_MS);
  }
}
