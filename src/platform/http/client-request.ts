import type { IncomingMessage } from 'node:http';

/**
 * A client's request. Node uses one class for requests and responses, so its types leave open which fields are set.
 */
export interface ClientRequest extends IncomingMessage {
  method: string;
  url: string;
}

/** Whether a method only reads. */
export function isReadMethod(method: string): method is 'GET' | 'HEAD' {
  return method === 'GET' || method === 'HEAD';
}

/** How a response waits for something new: as a long-poll, or as a stream of events. */
export type LiveMode = 'long-poll' | 'sse';
