/**
 * A `fetch` that aborts a silent response, before its headers or within its body. Without it a connection that
 * vanished would be awaited without end. Only the time in which somebody waits counts.
 */
export function withStallGuard(fetchNow: typeof fetch, silenceMs: number): typeof fetch {
  return async (input, init = {}) => {
    const stalled = new AbortController();
    const inTime = async <T>(waiting: Promise<T>): Promise<T> => {
      const stall = (): void =>
        stalled.abort(new DOMException('no answer in time', 'TimeoutError'));
      const timer = setTimeout(stall, silenceMs);
      try {
        return await waiting;
      } finally {
        clearTimeout(timer);
      }
    };
    const signal = AbortSignal.any([stalled.signal, ...(init.signal ? [init.signal] : [])]);
    const response = await inTime(fetchNow(input, { ...init, signal }));
    return response.body ? new Response(guarded(response.body, inTime), response) : response;
  };
}

function guarded(
  body: ReadableStream<Uint8Array>,
  inTime: <T>(waiting: Promise<T>) => Promise<T>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await inTime(reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
