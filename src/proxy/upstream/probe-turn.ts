/** Who may send a request once more, to see whether its connection has died silently. */
export interface Prober {
  probe(): void;
}

/**
 * Whose turn it is to probe an upstream: one request at a time. A probe for each of many that wait would double the load
 * of an upstream that is only slow.
 */
export class ProbeTurn {
  private current: Prober | undefined;
  private readonly waiting = new Set<Prober>();

  /** Lets a request probe, now or when its turn comes, unless it has left by then. */
  ask(prober: Prober): void {
    if (this.current) this.waiting.add(prober);
    else this.begin(prober);
  }

  /** The request probes no more, or needs no probe. */
  leave(prober: Prober): void {
    if (this.current !== prober) {
      if (this.waiting.size > 0) this.waiting.delete(prober);
      return;
    }
    this.current = undefined;
    // In another turn, because a probe that cannot begin leaves at once.
    if (this.waiting.size > 0) setImmediate(() => this.beginNext());
  }

  private beginNext(): void {
    const [next] = this.waiting;
    if (this.current || !next) return;
    this.waiting.delete(next);
    this.begin(next);
  }

  private begin(prober: Prober): void {
    this.current = prober;
    prober.probe();
  }
}
