/** How often those who wait look for their turn. */
const TICK_MS = 50;
/** The time before the first probe. It doubles with each one, up to the second time. */
const FIRST_PROBE_MS = 50;
const MAX_PROBE_MS = 500;
/** The longest time to the next probe that a response can ask for with `Retry-After`. */
const MAX_RETRY_AFTER_MS = 30_000;
/** How often a command may try whether a silent runtime accepts again. It need not wait for the end of another one. */
const SILENCE_PACE_MS = 1_000;
/** Without a command for so long, an outage that only commands can probe is forgotten. */
const FORGOTTEN_AFTER_MS = 60_000;
/** How long after its return the runtime may not know all its services yet. */
const JUST_BACK_MS = 5_000;
/** So many commands, of more than one entity, show an outage. One entity, or one client, says nothing about the others. */
const MIN_COMMANDS = 5;
/** For how long they must have shown it. For a silence each of them has waited for long already. */
const SHOWN_FOR_MS = { door: 1_000, silence: 0 };
/** So many entities are remembered. */
const MAX_ENTITIES = 1_000;
/** Those who waited go out in slices, one each tick. All have gone after about twenty of them. */
const SLICES = 20;
const MIN_SLICE = 16;

/** A command that may have to wait. */
export interface WaitingCommand {
  /** The entity to which it goes. */
  entity: string;
  /** Whether it may be sent again, so that it loses nothing if it is refused. */
  isRepeatable: boolean;
}

/** The commands that show an outage, since the last one that showed the contrary. */
interface Signs {
  readonly sinceMs: number;
  count: number;
  readonly entities: Set<string>;
}

interface Outage {
  /** `stop` is the end of the process, in which nobody waits. */
  readonly kind: 'connect' | 'door' | 'silence' | 'stop';
  readonly startedAtMs: number;
  /** Why the last connection could not be opened, or the silence. */
  cause: unknown;
  /** The scout, or the command that probes. Nobody else does meanwhile. */
  probing: unknown;
  paceMs: number;
  /** From when on any command may probe, and from when on one with a key, of an entity that was not refused yet. */
  dueAtMs: number;
  freshAtMs: number;
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
 * - Connections open, and nothing is accepted, as when too many of the runtime's nodes are away: several commands have waited
 *   for `silentMs`, and none was accepted meanwhile. A command each second tries. The outage ends with the next one that is
 *   accepted: any node answers 404 and 400 by itself.
 */
export class RuntimeOutage {
  private readonly waitMs: number;
  private readonly silentMs: number;
  private readonly tryConnect: () => Promise<Error | undefined>;
  private current: Outage | undefined;
  waitingCount = 0;
  /** So many of those who waited go after each tick, and so many may still go before the next one. */
  private slice = 0;
  private leftOfSlice = 0;
  private tick: Promise<void> | undefined;
  private returnedAtMs = Number.NEGATIVE_INFINITY;
  private hasAnswered = true;
  private acceptedAtMs = Number.NEGATIVE_INFINITY;
  private readonly signs: { door?: Signs | undefined; silence?: Signs | undefined } = {};
  private retryAfterMs: number | undefined;

  /** `tryConnect` opens a connection. It resolves with the reason if none opens. */
  constructor(waitMs: number, silentMs: number, tryConnect: RuntimeOutage['tryConnect']) {
    this.waitMs = waitMs;
    this.silentMs = silentMs;
    this.tryConnect = tryConnect;
  }

  get underWay(): Readonly<Pick<Outage, 'kind' | 'startedAtMs' | 'cause'>> | undefined {
    const { current } = this;
    const isForgotten =
      current && !current.probing && performance.now() >= current.dueAtMs + FORGOTTEN_AFTER_MS;
    if (isForgotten) this.end(current.kind);
    return this.current;
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
    else {
      this.retryAfterMs = undefined;
      void this.scout(this.begin('connect', cause));
    }
  }

  /** A connection opened. */
  connected(): void {
    this.end('connect');
  }

  /** A command was sent. Call what it returns when its attempt has ended, and the outage knows how. */
  sent(command: WaitingCommand): () => void {
    const sentAtMs = performance.now();
    let hasEnded = false;
    const onSilence = (): void => {
      if (hasEnded || this.acceptedAtMs >= sentAtMs) return;
      const cause = new Error(`the runtime has accepted no command for ${this.silentMs} ms`);
      this.note('silence', command, cause);
    };
    // After a pause of the process its answer may have arrived, and is read before the end of the turn.
    const timer = setTimeout(() => setImmediate(onSilence), this.silentMs).unref();
    return () => {
      hasEnded = true;
      clearTimeout(timer);
      if (this.current?.probing === command) this.probeLater(this.current);
    };
  }

  /**
   * The runtime has answered a request that was sent at `sentAtMs`. Restate listens long before it answers, so it has
   * really returned with the first answer to a request that waited for it.
   */
  answered(sentAtMs: number): void {
    this.signs.door = undefined;
    this.retryAfterMs = undefined;
    this.end('door');
    if (!this.hasAnswered && sentAtMs - this.returnedAtMs < JUST_BACK_MS) {
      this.returnedAtMs = performance.now();
    }
    this.hasAnswered = true;
  }

  /** The runtime has a command in its journal. */
  accepted(): void {
    this.acceptedAtMs = performance.now();
    this.signs.silence = undefined;
    this.end('silence');
  }

  /** What stands before the runtime has refused a command. */
  refused(command: WaitingCommand, retryAfterMs: number | undefined): void {
    this.retryAfterMs = retryAfterMs && Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
    this.note('door', command, undefined);
  }

  /**
   * Waits for the end of the outage, or for the turn to probe. Resolves with false when the outage has lasted for too long,
   * and at `untilMs` of `performance.now()`.
   */
  async wait(command: WaitingCommand, untilMs: number): Promise<boolean> {
    this.waitingCount++;
    let hasTurn = !this.current || this.takeTurn(command);
    while (!hasTurn && !this.isTooLate(untilMs)) {
      await this.nextTick();
      hasTurn = this.takeTurn(command);
    }
    this.waitingCount--;
    return hasTurn;
  }

  /** Ends every wait, and begins no more. */
  stop(): void {
    this.current = undefined;
    this.begin('stop', undefined).probing = this;
  }

  /** A command shows an outage of this kind. */
  private note(kind: 'door' | 'silence', { entity }: WaitingCommand, cause: unknown): void {
    const nowMs = performance.now();
    const signs = (this.signs[kind] ??= { sinceMs: nowMs, count: 0, entities: new Set() });
    signs.count++;
    if (signs.entities.size < MAX_ENTITIES) signs.entities.add(entity);
    const isClear = signs.count >= MIN_COMMANDS && signs.entities.size > 1;
    if (this.current || !isClear || nowMs - signs.sinceMs < SHOWN_FOR_MS[kind]) return;
    this.probeLater(this.begin(kind, cause));
  }

  private begin(kind: Outage['kind'], cause: unknown): Outage {
    const startedAtMs = performance.now() - (kind === 'stop' ? this.waitMs : 0);
    const pace = { paceMs: FIRST_PROBE_MS, dueAtMs: 0, freshAtMs: 0 };
    return (this.current = { kind, startedAtMs, cause, probing: undefined, ...pace });
  }

  private end(kind: Outage['kind']): void {
    if (this.current?.kind !== kind) return;
    this.current = undefined;
    this.returnedAtMs = performance.now();
    this.hasAnswered = false;
    this.slice = Math.max(MIN_SLICE, Math.ceil(this.waitingCount / SLICES));
  }

  private async scout(outage: Outage): Promise<void> {
    outage.probing = this;
    for (let ms = FIRST_PROBE_MS; ; ms = Math.min(2 * ms, MAX_PROBE_MS)) {
      await pause(ms);
      if (this.current !== outage) return;
      const failure = await this.tryConnect();
      // It says nothing about another outage.
      if (this.current !== outage) return;
      if (!failure) this.connected();
      outage.cause = failure;
    }
  }

  private isTooLate(untilMs: number): boolean {
    const { current } = this;
    if (!current) return false;
    return performance.now() >= Math.min(untilMs, current.startedAtMs + this.waitMs);
  }

  private nextTick(): Promise<void> {
    this.tick ??= pause(TICK_MS).then(() => {
      this.tick = undefined;
      this.leftOfSlice = this.slice;
    });
    return this.tick;
  }

  /** Whether the command may go now. During an outage it probes then. */
  private takeTurn(command: WaitingCommand): boolean {
    const { current } = this;
    if (!current) return this.leftOfSlice-- > 0;
    const { kind, probing, dueAtMs, freshAtMs } = current;
    const isFresh = !this.signs.door?.entities.has(command.entity);
    let fromMs = dueAtMs;
    if (kind === 'door' && !isFresh) fromMs += TICK_MS;
    else if (kind === 'door' && command.isRepeatable) fromMs = freshAtMs;
    const nowMs = performance.now();
    if (probing || nowMs < fromMs) return false;
    if (isFresh) current.freshAtMs = nowMs + this.paceMs(current);
    // A silent one may take all its time.
    if (kind === 'silence') this.probeLater(current);
    else current.probing = command;
    return true;
  }

  private probeLater(outage: Outage): void {
    outage.probing = undefined;
    outage.dueAtMs = performance.now() + this.paceMs(outage);
    outage.paceMs = Math.min(2 * outage.paceMs, MAX_PROBE_MS);
  }

  private paceMs({ kind, paceMs }: Outage): number {
    return kind === 'silence' ? SILENCE_PACE_MS : Math.max(this.retryAfterMs ?? 0, paceMs);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
