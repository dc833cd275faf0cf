/** So many commands, of more than one entity, must wait. One entity, or one client, says nothing about the others. */
const MIN_WAITING = 5;
/** Of those that wait longest, so many are looked at. */
const MOST_LOOKED_AT = 100;

/**
 * Whether the runtime takes commands and answers none of them, as Restate does while too few of its nodes are there: several
 * commands wait for long, and meanwhile none was accepted. A refusal does not count, because any node refuses by itself.
 */
export class RuntimeSilence {
  private readonly silentMs: number;
  private readonly nowMs: () => number;
  /** The commands that wait for an answer, in the order in which they were sent. */
  private readonly waiting = new Map<object, { entity: string; sentAtMs: number }>();
  private acceptedAtMs = Number.NEGATIVE_INFINITY;

  /** The runtime is silent when commands wait for `silentMs`. `nowMs` stands still while the process does. */
  constructor(silentMs: number, nowMs: () => number) {
    this.silentMs = silentMs;
    this.nowMs = nowMs;
  }

  /** A command of this entity was sent. Call what it returns when its attempt has ended. */
  sent(entity: string): () => void {
    const command = {};
    this.waiting.set(command, { entity, sentAtMs: this.nowMs() });
    return () => this.waiting.delete(command);
  }

  accepted(): void {
    this.acceptedAtMs = this.nowMs();
  }

  get isThere(): boolean {
    const sentUntilMs = this.nowMs() - this.silentMs;
    if (this.acceptedAtMs > sentUntilMs) return false;
    const entities = new Set<string>();
    let count = 0;
    for (const { entity, sentAtMs } of this.waiting.values()) {
      if (sentAtMs > sentUntilMs || count === MOST_LOOKED_AT) return false;
      count++;
      entities.add(entity);
      if (count >= MIN_WAITING && entities.size > 1) return true;
    }
    return false;
  }

  get cause(): Error {
    const [first] = this.waiting.values();
    const silentMs = this.nowMs() - (first?.sentAtMs ?? this.nowMs());
    return new Error(`the runtime has accepted no command for ${Math.round(silentMs)} ms`);
  }
}
