import { stream, type StreamOptions } from '@durable-streams/client';
import type { ReadToken } from './read-token.ts';

export interface Timeline<Event> extends Pick<StreamOptions, 'fetch' | 'backoffOptions'> {
  url: string;
  live: 'long-poll' | 'sse';
  token: ReadToken;
  onEvents: (events: readonly Event[]) => void;
  signal: AbortSignal;
}

const PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** Reads a timeline, each event once, until the signal aborts or the stream is closed. */
export async function followTimeline<Event>(timeline: Timeline<Event>): Promise<void> {
  const { token, onEvents, signal, ...options } = timeline;
  const headers = { Authorization: () => token.authorization() };
  let offset = '-1';
  let pauseMs = PAUSE_MS;
  let isComplete = false;
  while (!signal.aborted && !isComplete) {
    let isOver = false;
    try {
      const read = await stream<Event>({ ...options, offset, json: true, headers, signal });
      pauseMs = PAUSE_MS;
      read.subscribeJson((batch) => {
        // `closed` can reject before the last batch is here; the next read brings it again.
        if (isOver || signal.aborted) return;
        offset = batch.offset;
        isComplete = batch.streamClosed;
        onEvents(batch.items);
      });
      await read.closed;
    } catch (error) {
      const { status } = error as { status?: number };
      if (status === 401) token.drop();
      // A fresh token of the same kind would not open it either.
      if (status === 400 || status === 403) throw error;
    }
    isOver = true;
    if (signal.aborted || isComplete) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }
}
