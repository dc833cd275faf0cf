import { Readable, type Writable } from 'node:stream';

/** Writes this so many times, as fast as it is taken, and ends. */
export function pour(to: Writable, piece: string | Buffer, times = Number.POSITIVE_INFINITY): void {
  function* pieces(): Generator<string | Buffer> {
    for (let count = 0; count < times; count++) yield piece;
  }
  Readable.from(pieces()).pipe(to);
}
