import type { Reached } from '../upstream/send-again.ts';
import type { Reader } from './reader.ts';

/** What has a reader: the request that it waits for, and from then on the source of its response. */
export interface ReaderPlace {
  /** How far the request came that it waits for. Undefined once there is a response. */
  readonly reached?: Reached;
  /** The reader has disconnected, or has its whole response. */
  leave(reader: Reader): void;
}

/** The source of a reader's response. The reader takes one piece after the other, as fast as its client reads. */
export interface BodySource extends ReaderPlace {
  /** The next piece, if there is one. A string is latin1. Called as long as the reader is not full. */
  next(reader: Reader): Buffer | string | undefined;
  /** Whether the body is complete with the last piece of `next`. */
  isWhole(reader: Reader): boolean;
  /** The kernel has accepted a piece of this many bytes. */
  onTaken(reader: Reader, bytes: number): void;
  /** The reader must end where it can resume. */
  endSoon(reader: Reader, reason: Error): void;
}
