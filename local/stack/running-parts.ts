import { ProcessEndedError, type RunningPart } from './process.ts';

const MOST_ENDS = 3;
const WINDOW_MS = 60_000;

export interface SupervisedPart {
  readonly name: string;
  /** Resolves when the part can be used. */
  start(): Promise<RunningPart>;
}

export interface Supervision {
  /** Receives each message about a part that is started again. */
  onRestart: (message: string) => void;
  /** Called whenever `running` has changed. */
  onChange?: () => void;
  /** A part that ends so often within a minute is not started again. By default three times. */
  mostEnds?: number | undefined;
  /** The time in milliseconds. */
  now?: () => number;
}

/** The running parts. One that ends by itself is started again; its third end within a minute ends all of them, or a later one. */
export class RunningParts {
  /** Rejects with the reason when a part is given up. */
  readonly ended: Promise<never>;
  stopping = false;
  readonly #running = new Map<string, RunningPart>();
  readonly #supervision: Supervision;
  #giveUp: (reason: unknown) => void = () => {};

  constructor(supervision: Supervision) {
    this.#supervision = supervision;
    const { promise, reject } = Promise.withResolvers<never>();
    this.ended = promise;
    this.#giveUp = reject;
    // Only a race listens to it, and the race may be over by then.
    promise.catch(() => {});
  }

  get running(): RunningPart[] {
    return [...this.#running.values()];
  }

  /** Starts a part and watches it from then on. Rejects if it does not start. */
  async start(part: SupervisedPart): Promise<RunningPart> {
    const running = await this.#launch(part);
    this.#keep(part, running).catch(this.#giveUp);
    return running;
  }

  /** Stops all parts at the same time, within the grace period. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running.map((part) => part.stop(graceMs)));
  }

  async #launch(part: SupervisedPart): Promise<RunningPart> {
    const running = await part.start();
    this.#running.set(part.name, running);
    // It came too late for `stop`.
    if (this.stopping) await running.stop();
    this.#supervision.onChange?.();
    return running;
  }

  async #keep(part: SupervisedPart, first: RunningPart): Promise<void> {
    const { onRestart, onChange, now = Date.now, mostEnds = MOST_ENDS } = this.#supervision;
    let ends: number[] = [];
    let reason = await endOf(first);
    while (!this.stopping) {
      this.#running.delete(part.name);
      onChange?.();
      ends = [...ends, now()].filter((atMs) => atMs > now() - WINDOW_MS);
      if (ends.length >= mostEnds) {
        throw new Error(`${part.name} ended ${mostEnds} times in a minute. ${reason.message}`);
      }
      const [what] = reason.message.split('. ', 1);
      onRestart(`${what}: starting it again`);
      reason = await this.#launch(part).then(endOf, (failure: Error) => failure);
    }
  }
}

async function endOf(running: RunningPart): Promise<Error> {
  return new ProcessEndedError(running, await running.exited);
}
