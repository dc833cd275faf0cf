import { rejectWhenEnded, type RunningPart } from './process.ts';

/** The parts that run now: the first one to end by itself ends the whole. */
export class RunningParts {
  /** Rejects with a ProcessEndedError once a part has ended before `stop`. */
  readonly ended: Promise<never>;
  stopping = false;
  #parts: RunningPart[] = [];
  #reportEnd: (reason: unknown) => void = () => {};

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.ended = promise;
    this.#reportEnd = reject;
    // It is listened to in a race only, which may be over by then.
    promise.catch(() => {});
  }

  add(part: RunningPart): void {
    this.#parts.push(part);
    rejectWhenEnded(part).catch(this.#reportEnd);
  }

  /** Ends all at once; takes the grace at the longest. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    await Promise.all(this.#parts.map((part) => part.stop(graceMs)));
  }
}
