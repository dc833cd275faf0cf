import type { HeaderList } from '../../../platform/http/header-list.ts';
import type { Reached } from '../send-again.ts';

/** Observes the response of a connection's read. There is no call after `onEnd` or `onError`. */
export interface AnswerHandler {
  /** Whether the body may be silent for any time, like an event stream. */
  readonly mayBeSilent: boolean;
  onHead(statusCode: number, headers: HeaderList): void;
  onChunk(chunk: Buffer): void;
  /** The response is complete. */
  onEnd(): void;
  /** There is no response, or it was cut or is invalid. */
  onError(error: Error, reached: Reached): void;
}
