import { rejectWhenEnded, type RunningPart } from './process.ts';

/** The running parts. The first one that ends by itself ends all of them. */
export class RunningParts {
  /** Rejects with a ProcessEndedError if a part ends before `stop`. */
  readonly ended: Promise<never>;
  stopping = false;
  #parts: RunningPart[] = [];
  #reportEnd: (reason: unknown) => void = () => {};

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.ended = promise;
    this.#reportEnd = reject;
    // Only a race listens to it, and the race may be over by then.
    promise.catch(() => {});
  }

  add(part: RunningPart): void {
    this.#parts.push(part);
    rejectWhenEnded(part).catch(this.#reportEnd);
  }

  /** Stops all parts at the same time, within the grace period. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    await Promise.all(this.#parts.map((part) => part.stop(graceMs)));
  }
}
