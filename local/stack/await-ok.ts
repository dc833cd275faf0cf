const POLL_INTERVAL_MS = 50;

/** Waits until a GET of the URL, with the credential if there is one, returns 200. Rejects when the signal aborts. */
export async function awaitOk(
  url: string,
  signal: AbortSignal,
  credential?: string,
): Promise<void> {
  const headers = credential === undefined ? undefined : { authorization: `Bearer ${credential}` };
  for (;;) {
    signal.throwIfAborted();
    try {
      const response = await fetch(url, { signal, headers });
      await response.arrayBuffer();
      if (response.status === 200) return;
    } catch {
      // The server does not listen yet, or the signal aborted, which the loop's condition handles.
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}
