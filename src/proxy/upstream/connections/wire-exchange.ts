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

/** Observes the response of a connection's request. There is no call after `onEnd` or `onError`. */
export interface WireHandler {
  /** Whether the body may be silent for a long time, like an event stream. */
  readonly mayBeSilent: boolean;
  /** A streamed body has left. */
  onBodySent(): void;
  onHead(statusCode: number, headers: HeaderList): void;
  onChunk(chunk: Buffer): void;
  /** The response is complete. */
  onEnd(): void;
  /** There is no response, or it was cut or is invalid. */
  onError(error: Error, reached: Reached): void;
  /** The connection has most likely died silently: it has not answered since before another one was found dead. */
  onUnproven(): void;
}
