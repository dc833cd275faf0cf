const POLL_INTERVAL_MS = 50;

/** Waits until a GET of the URL returns 200. Rejects when the signal aborts. */
export async function awaitOk(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const response = await fetch(url, { signal });
      await response.arrayBuffer();
      if (response.status === 200) return;
    } catch {
      // The server does not listen yet, or the signal aborted, which the loop's condition handles.
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}
