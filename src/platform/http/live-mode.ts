/** How a response waits for something new: as a long-poll, or as a stream of events. */
export type LiveMode = 'long-poll' | 'sse';
