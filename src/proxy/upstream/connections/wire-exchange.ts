import type { Readable } from 'node:stream';
import type { HeaderList } from '../../../platform/http/header-list.ts';
import type { Reached } from '../send-again.ts';

/** A request as it is sent on a connection. */
export interface WireRequest {
  method: string;
  target: string;
  /** All headers of the request, except `Connection` and the length of its body. */
  headers: HeaderList;
  body?: RequestBody | undefined;
}

/** The body of a request. One that is streamed has exactly the length that is given. */
export type RequestBody = { bytes: Buffer } | { stream: Readable; lengthBytes: number };

/** One of the attempts of its owner, which learns what becomes of it. */
export interface WireAttempt {
  readonly owner: WireHandler<this>;
}

/** Observes the responses to its attempts. There is no call after `onEnd` or `onError`. */
export interface WireHandler<Attempt = WireAttempt> {
  /** A streamed body has left. */
  onBodySent(attempt: Attempt): void;
  onHead(attempt: Attempt, statusCode: number, headers: HeaderList): void;
  onChunk(attempt: Attempt, chunk: Buffer): void;
  /** The response is complete. */
  onEnd(attempt: Attempt): void;
  /** There is no response, or it was cut or is invalid. */
  onError(attempt: Attempt, error: Error, reached: Reached): void;
  /** The connection has most likely died silently: it has not answered since before another one was found dead. */
  onUnproven(attempt: Attempt): void;
}
