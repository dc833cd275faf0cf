import type { RuntimeSilence } from './runtime-silence.ts';

/** The time before the first probe. It doubles with each one, up to the second time. */
const FIRST_PROBE_MS = 50;
const MAX_PROBE_MS = 500;
/** The longest time to the next probe that a response can ask for with `Retry-After`. */
const MAX_RETRY_AFTER_MS = 30_000;
/** How long after its return the runtime may not know all its services yet. */
const JUST_BACK_MS = 5_000;
/** An outage begins when for so long, and so often, nothing came but refusals of what stands before the runtime. */
const DOOR_CLOSES_AFTER_MS = 1_000;
const DOOR_CLOSES_AFTER = 5;
/** Without a command for so long, an outage that only commands can probe is forgotten. */
const FORGOTTEN_AFTER_MS = 60_000;
/** Those who waited go out in slices, at this interval. All have gone after about twenty of them. */
const SLICE_INTERVAL_MS = 50;
const SLICES = 20;
const MIN_SLICE = 16;
/** How often a command may try whether a silent runtime accepts again. It need not wait for the end of another one. */
const SILENCE_PACE_MS = 1_000;
/** So many entities are remembered as refused. */
const MAX_REFUSED = 1_000;

/** What an outage lets a command do: go, go as the one that probes the runtime, or give up. */
export type Turn = 'go' | 'probe' | 'late';

/** A command that may have to wait. */
export interface WaitingCommand {
  /** The entity to which it goes. */
  entity: string;
  /** Whether it may be sent again, so that it loses nothing if it is refused. */
  isRepeatable: boolean;
}

interface Waiter {
  command: WaitingCommand;
  settle: (turn: Turn) => void;
  timer: NodeJS.Timeout;
}

interface Outage {
  readonly startedAtMs: number;
  /** Why the last connection could not be opened, or the silence. */
  cause: unknown;
  readonly kind: 'connect' | 'door' | 'silence';
  /** Aborts when the outage is over. */
  readonly ended: AbortController;
  /** How long before the next probe. */
  probeInMs: number;
  nextProbe: NodeJS.Timeout | undefined;
  /** Whether any command may probe, and from when on one with a key, of an entity that was not refused yet. */
  isProbeDue: boolean;
  freshFromMs: number;
  /** The command that probes. */
  probing: WaitingCommand | undefined;
}

/**
 * The outage of the runtime, one state for all commands. While it lasts no command tries by itself, because each of
 * thousands would wait for what is known already. A command waits until `waitMs` after the beginning of the outage, and
 * later ones do not wait at all. There are three kinds:
 *
 * - No connection opens. A scout tries to open one, also if no command waits. The outage ends with the next one that opens.
 * - Connections open, and what stands before the runtime refuses each command (502, 503, 504, a page of its own). One
 *   command at a time is the scout, at the pace that `Retry-After` asks for. Any answer of the runtime ends it. One with a
 *   key, of an entity that was not refused, need not wait for its turn: the failing requests of one client keep nobody out.
 * - Connections open, and nothing is accepted, as when too many of the runtime's nodes are away (`RuntimeSilence`). A command
 *   each second tries. The outage ends with the next one that is accepted: any node answers 404 and 400 by itself.
 */
export class RuntimeOutage {
  private readonly waitMs: number;
  private readonly tryConnect: (signal: AbortSignal) => Promise<Error | undefined>;
  private readonly silence: RuntimeSilence;
  private current: Outage | undefined;
  private readonly waiting = new Set<Waiter>();
  private nextSlice: NodeJS.Timeout | undefined;
  /** Whether the process ends. */
  isStopped = false;
  private returnedAtMs = Number.NEGATIVE_INFINITY;
  private hasAnswered = true;
  /** The refusals since the last answer of the runtime. */
  private refusals = { sinceMs: 0, count: 0, entities: new Set<string>() };
  private retryAfterMs: number | undefined;

  /** `tryConnect` opens a connection. It resolves with the reason if none opens, and when the signal aborts. */
  constructor(waitMs: number, tryConnect: RuntimeOutage['tryConnect'], silence: RuntimeSilence) {
    this.waitMs = waitMs;
    this.tryConnect = tryConnect;
    this.silence = silence;
  }

  /** Whether there is one. A silence of the runtime becomes one here, with the next command that comes. */
  get isUnderWay(): boolean {
    if (!this.current && !this.isStopped && this.silence.isThere) {
      this.letProbeLater(this.begin('silence', this.silence.cause));
    }
    return this.current !== undefined;
  }

  /** Whether connections open, and the runtime accepts nothing. */
  get isSilent(): boolean {
    return this.isUnderWay && this.current?.kind === 'silence';
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

  /** After how many seconds a client may try again. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.retryAfterMs ?? 0) / 1_000));
  }

  /** Whether the runtime has just returned from an outage. */
  get isJustOver(): boolean {
    return performance.now() - this.returnedAtMs < JUST_BACK_MS;
  }

  /** A connection could not be opened. */
  connectFailed(cause: unknown): void {
    if (this.current) this.current.cause = cause;
    else if (!this.isStopped) {
      this.retryAfterMs = undefined;
      this.scoutIn(this.begin('connect', cause), FIRST_PROBE_MS);
    }
  }

  /** A connection opened. */
  connected(): void {
    if (this.current?.kind !== 'connect') return;
    this.end('go');
    this.returnedAtMs = performance.now();
    this.hasAnswered = false;
  }

  /**
   * The runtime has answered a request that was sent at `sentAtMs`. Restate listens long before it answers, so it has
   * really returned with the first answer to a request that waited for it.
   */
  answered(sentAtMs: number): void {
    const nowMs = performance.now();
    this.refusals = { sinceMs: 0, count: 0, entities: new Set() };
    this.retryAfterMs = undefined;
    if (this.current?.kind === 'door') {
      this.end('go');
      this.returnedAtMs = nowMs;
    } else if (!this.hasAnswered && sentAtMs - this.returnedAtMs < JUST_BACK_MS) {
      this.returnedAtMs = nowMs;
    }
    this.hasAnswered = true;
  }

  /** The runtime has a command in its journal. */
  accepted(): void {
    this.silence.accepted();
    if (this.current?.kind === 'silence') this.end('go');
  }

  /** What stands before the runtime has refused a command of this entity. */
  refused(entity: string, retryAfterMs: number | undefined): void {
    const { refusals } = this;
    const nowMs = performance.now();
    this.retryAfterMs = retryAfterMs && Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    if (refusals.count++ === 0) refusals.sinceMs = nowMs;
    if (refusals.entities.size < MAX_REFUSED) refusals.entities.add(entity);
    // One entity, or one client with a bad request, says nothing about the others.
    const isClosed =
      nowMs - refusals.sinceMs >= DOOR_CLOSES_AFTER_MS &&
      refusals.count >= DOOR_CLOSES_AFTER &&
      refusals.entities.size > 1;
    if (this.current || this.isStopped || !isClosed) return;
    this.letProbeLater(this.begin('door', undefined));
  }

  /**
   * Waits for the end of the outage, or for the turn to probe. It gives up when the outage has lasted for too long, and at
   * `untilMs` of `performance.now()`.
   */
  wait(command: WaitingCommand, untilMs: number): Promise<Turn> {
    const { current } = this;
    if (!current) return Promise.resolve(this.isStopped ? 'late' : 'go');
    if (this.mayProbe(current, command)) return Promise.resolve(this.beginProbe(current, command));
    const leftMs = Math.min(untilMs, current.startedAtMs + this.waitMs) - performance.now();
    if (leftMs <= 0) return Promise.resolve('late');
    return new Promise((resolve) => {
      const settle = (turn: Turn): void => {
        clearTimeout(waiter.timer);
        this.waiting.delete(waiter);
        resolve(turn);
      };
      const waiter = { command, settle, timer: setTimeout(() => settle('late'), leftMs) };
      this.waiting.add(waiter);
    });
  }

  /** The command, whose turn it was to probe, has its answer, or none. */
  probed(command: WaitingCommand): void {
    const { current } = this;
    if (current?.probing !== command) return;
    current.probing = undefined;
    this.letProbeLater(current);
  }

  /** Ends the scout and every wait. */
  stop(): void {
    this.isStopped = true;
    this.end('late');
  }

  private begin(kind: Outage['kind'], cause: unknown): Outage {
    // Those who were to go wait again.
    this.letGo(this.waiting.size);
    this.current = {
      startedAtMs: performance.now(),
      cause,
      kind,
      ended: new AbortController(),
      probeInMs: FIRST_PROBE_MS,
      nextProbe: undefined,
      isProbeDue: false,
      freshFromMs: 0,
      probing: undefined,
    };
    return this.current;
  }

  private end(turn: 'go' | 'late'): void {
    clearTimeout(this.current?.nextProbe);
    this.current?.ended.abort();
    this.current = undefined;
    if (turn === 'late') for (const { settle } of this.waiting) settle('late');
    for (const { timer } of this.waiting) clearTimeout(timer);
    this.letGo(this.slice());
  }

  private slice(): number {
    return Math.max(MIN_SLICE, Math.ceil(this.waiting.size / SLICES));
  }

  /** Lets so many of those who waited go, and the others in slices after them. */
  private letGo(count: number): void {
    clearTimeout(this.nextSlice);
    this.nextSlice = undefined;
    for (const { settle } of [...this.waiting].slice(0, count)) settle('go');
    if (this.waiting.size === 0) return;
    this.nextSlice = setTimeout(() => this.letGo(count), SLICE_INTERVAL_MS);
  }

  private scoutIn(outage: Outage, delayMs: number): void {
    const { signal } = outage.ended;
    const probe = async (): Promise<void> => {
      const failure = await this.tryConnect(signal);
      if (signal.aborted) return;
      if (!failure) {
        this.connected();
        return;
      }
      outage.cause = failure;
      this.scoutIn(outage, Math.min(2 * delayMs, MAX_PROBE_MS));
    };
    outage.nextProbe = setTimeout(() => void probe(), delayMs).unref();
  }

  private paceMs({ kind, probeInMs }: Outage): number {
    if (kind === 'silence') return SILENCE_PACE_MS;
    return Math.max(this.retryAfterMs ?? 0, probeInMs);
  }

  private letProbeLater(outage: Outage): void {
    const paceMs = this.paceMs(outage);
    clearTimeout(outage.nextProbe);
    outage.nextProbe = setTimeout(() => this.letProbeNow(outage), paceMs).unref();
    outage.probeInMs = Math.min(2 * outage.probeInMs, MAX_PROBE_MS);
  }

  private letProbeNow(outage: Outage): void {
    outage.isProbeDue = true;
    outage.nextProbe = setTimeout(() => this.end('go'), FORGOTTEN_AFTER_MS).unref();
    const waiting = [...this.waiting];
    const fresh = waiting.filter(({ command }) => this.isFresh(command));
    const scout = fresh.find(({ command }) => command.isRepeatable) ?? fresh[0] ?? waiting[0];
    scout?.settle(this.beginProbe(outage, scout.command));
  }

  private isFresh({ entity }: WaitingCommand): boolean {
    return !this.refusals.entities.has(entity);
  }

  private mayProbe(outage: Outage, command: WaitingCommand): boolean {
    if (outage.kind === 'connect' || outage.probing) return false;
    if (outage.kind === 'silence') return outage.isProbeDue;
    const isFresh = command.isRepeatable && this.isFresh(command);
    return outage.isProbeDue || (isFresh && performance.now() >= outage.freshFromMs);
  }

  private beginProbe(outage: Outage, command: WaitingCommand): Turn {
    clearTimeout(outage.nextProbe);
    if (this.isFresh(command)) outage.freshFromMs = performance.now() + this.paceMs(outage);
    outage.isProbeDue = false;
    // A silent one may take all its time.
    if (outage.kind === 'silence') this.letProbeLater(outage);
    else outage.probing = command;
    return 'probe';
  }
}
