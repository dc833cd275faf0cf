const POLL_INTERVAL_MS = 50;

/** Waits until a GET of the URL is answered 200; rejects when the signal aborts. */
export async function awaitOk(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const response = await fetch(url, { signal });
      await response.arrayBuffer();
      if (response.status === 200) return;
    } catch {
      // Not listening yet, or aborted, which the loop's head reports.
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}
