import { tryConnect } from '../proxy/upstream/connections/try-connect.ts';
import type { Connector } from '../proxy/upstream/connections/upstream-socket.ts';

/** The time before the first probe. It doubles with each one, up to the second time. */
const FIRST_PROBE_MS = 50;
const MAX_PROBE_MS = 500;
/** How long after its return the runtime may not know all its services yet. */
const JUST_BACK_MS = 5_000;

/** An outage, from the first connection that could not be opened to the next one that opens. */
interface Outage {
  startedAtMs: number;
  /** Why the last connection could not be opened. */
  cause: unknown;
  /** Aborts when the outage is over. */
  ended: AbortController;
  nextProbe: NodeJS.Timeout | undefined;
}

/**
 * The outage of the runtime, one state for all commands. While it lasts no command tries by itself, because each of
 * thousands would wait for what is known already. One scout opens connections instead, also if no command waits. A
 * command waits until `waitMs` after the beginning of the outage, and later ones do not wait at all.
 */
export class RuntimeOutage {
  private readonly waitMs: number;
  private readonly connectMs: number;
  private readonly connect: Connector;
  private current: Outage | undefined;
  private readonly waiting = new Set<(isOver: boolean) => void>();
  /** Whether the process ends. */
  isStopped = false;
  private returnedAtMs = Number.NEGATIVE_INFINITY;
  private hasAnswered = true;

  /** `connectMs` is how long one connection of the scout may take to open. */
  constructor(waitMs: number, connectMs: number, connect: Connector) {
    this.waitMs = waitMs;
    this.connectMs = connectMs;
    this.connect = connect;
  }

  get isUnderWay(): boolean {
    return this.current !== undefined;
  }

  get waitingCount(): number {
    return this.waiting.size;
  }

  /** How long the outage has lasted, or 0. */
  get seconds(): number {
    return this.current ? (performance.now() - this.current.startedAtMs) / 1_000 : 0;
  }

  /** Why the last connection could not be opened. */
  get cause(): unknown {
    return this.current?.cause;
  }

  /** Whether the runtime has just returned from an outage. */
  get isJustOver(): boolean {
    return performance.now() - this.returnedAtMs < JUST_BACK_MS;
  }

  /** A connection could not be opened. */
  connectFailed(cause: unknown): void {
    if (this.current) this.current.cause = cause;
    else if (!this.isStopped) {
      this.current = {
        startedAtMs: performance.now(),
        cause,
        ended: new AbortController(),
        nextProbe: undefined,
      };
      this.scout(this.current, FIRST_PROBE_MS);
    }
  }

  /** A connection opened. */
  connected(): void {
    if (!this.current) return;
    this.end(true);
    this.returnedAtMs = performance.now();
    this.hasAnswered = false;
  }

  /**
   * The runtime has answered a request that was sent at `sentAtMs`. Restate listens long before it answers, so it has
   * really returned with the first answer to a request that waited for it.
   */
  answered(sentAtMs: number): void {
    if (this.hasAnswered) return;
    this.hasAnswered = true;
    if (sentAtMs - this.returnedAtMs < JUST_BACK_MS) this.returnedAtMs = performance.now();
  }

  /**
   * Waits for the end of the outage. Resolves with false if the outage has lasted for too long, or at `untilMs` of
   * `performance.now()`.
   */
  wait(untilMs: number): Promise<boolean> {
    if (!this.current) return Promise.resolve(!this.isStopped);
    const leftMs = Math.min(untilMs, this.current.startedAtMs + this.waitMs) - performance.now();
    if (leftMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (isOver: boolean): void => {
        clearTimeout(timer);
        this.waiting.delete(settle);
        resolve(isOver);
      };
      const timer = setTimeout(() => settle(false), leftMs);
      this.waiting.add(settle);
    });
  }

  /** Ends the scout and every wait. */
  stop(): void {
    this.isStopped = true;
    this.end(false);
  }

  private end(isOver: boolean): void {
    clearTimeout(this.current?.nextProbe);
    this.current?.ended.abort();
    this.current = undefined;
    for (const settle of this.waiting) settle(isOver);
  }

  private scout(outage: Outage, delayMs: number): void {
    const { signal } = outage.ended;
    const probe = async (): Promise<void> => {
      const failure = await tryConnect(this.connect, this.connectMs, signal);
      if (signal.aborted) return;
      if (!failure) {
        this.connected();
        return;
      }
      outage.cause = failure;
      this.scout(outage, Math.min(2 * delayMs, MAX_PROBE_MS));
    };
    outage.nextProbe = setTimeout(() => void probe(), delayMs).unref();
  }
}
