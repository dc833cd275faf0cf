/** A live read that was not refused by then is parked, so the gateway is there. */
const PARKED_AFTER_MS = 2_000;

/**
 * A `fetch` for the clients, which retry most failures silently, that reports how each request went:
 * `live`, `renewing`, `refused`, `missing`, `failing` or `unreachable`.
 */
export function watchedFetch(report) {
  return async (input, init) => {
    const isLive = new URL(String(input)).searchParams.has('live');
    const timer = isLive && setTimeout(() => report({ state: 'live' }), PARKED_AFTER_MS);
    try {
      const response = await fetch(input, init);
      report(await judge(response));
      return response;
    } catch (error) {
      // A client that breaks off its own request is no news.
      if (!init?.signal?.aborted) report({ state: 'unreachable' });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

async function judge(response) {
  const { status } = response;
  // 409 is the catalog's "fetch all again", which its client does by itself.
  if (response.ok || status === 409) return { state: 'live' };
  // A copy: the client reads the body, too.
  const problem = await response
    .clone()
    .json()
    .catch(() => ({}));
  const detail = problem.detail ?? `The gateway answered ${status}.`;
  if (status === 401 && problem.code === 'token_expired') return { state: 'renewing' };
  if (status === 401 || status === 403) return { state: 'refused', detail };
  if (status === 404) return { state: 'missing' };
  return { state: 'failing', detail };
}
