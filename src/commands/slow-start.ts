/** How many may be under way at first. */
const FIRST_PLACES = 16;
/** How often their number is checked. */
const TICK_MS = 500;
/** If those who wait would need more ticks than this, twice as many may be under way. */
const MAX_TICKS_LEFT = 10;

/**
 * Lets a crowd go one after the other. A few are under way at once, so they need a few connections, however many they
 * are. If the runtime answers slowly, their number doubles until all can go within some seconds.
 */
export class SlowStart {
  private readonly waiting: (() => void)[] = [];
  private places = FIRST_PLACES;
  private underWay = 0;
  private leftInTick = 0;
  private timer: NodeJS.Timeout | undefined;

  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Resolves when it is the caller's turn. It must call `leave` afterwards. */
  enter(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.letGo();
      if (this.waiting.length > 0)
        this.timer ??= setInterval(() => setImmediate(() => this.tick()), TICK_MS);
    });
  }

  leave(): void {
    this.leftInTick++;
    // Undici uses a connection again in the next turn. In this one another would open for who comes next.
    setImmediate(() => {
      this.underWay--;
      this.letGo();
    });
  }

  /** It runs after the responses of this turn have arrived, which a busy process reads late. */
  private tick(): void {
    if (this.waiting.length > MAX_TICKS_LEFT * this.leftInTick) this.places *= 2;
    this.leftInTick = 0;
    this.letGo();
  }

  private letGo(): void {
    while (this.underWay < this.places) {
      const next = this.waiting.shift();
      if (!next) break;
      this.underWay++;
      next();
    }
    if (this.waiting.length > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.places = FIRST_PLACES;
  }
}
