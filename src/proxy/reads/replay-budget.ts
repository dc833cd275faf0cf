/**
 * The memory that may hold what event streams have sent so far, for readers that come later: so much
 * of one stream, and so much of all of them together.
 */
export class ReplayBudget {
  private readonly maxBytesOfStream: number;
  private readonly maxBytes: number;
  private readonly used: { replayBufferBytes: number };

  /** What is held is counted in `used`. */
  constructor(
    maxBytesOfStream: number,
    maxBytes: number,
    used: { replayBufferBytes: number } = { replayBufferBytes: 0 },
  ) {
    this.maxBytesOfStream = maxBytesOfStream;
    this.maxBytes = maxBytes;
    this.used = used;
  }

  /** Takes `bytes` more for a stream that has `takenBytes` already; false where that is too much. */
  take(takenBytes: number, bytes: number): boolean {
    const usedBytes = this.used.replayBufferBytes + bytes;
    if (takenBytes + bytes > this.maxBytesOfStream || usedBytes > this.maxBytes) return false;
    this.used.replayBufferBytes = usedBytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.used.replayBufferBytes -= bytes;
  }
}

/** Keeps nothing: no reader can come later. */
export const NO_REPLAY = new ReplayBudget(0, 0);
