import { ipv6Groups } from '../http/ip-nets.ts';

const PERIOD_MS = 1_000;
/** The refusals of one caller that have a line of their own in a period. */
const MAX_LINES_PER_CALLER = 100;
/** Those of all callers together, but for the first one of each. */
const MAX_LINES = 500;
/** Those of all callers together. */
const MAX_ALL_LINES = 1_000;
/** The callers that are counted apart. The others are counted together. */
const MAX_CALLERS = 4_096;
/** The callers that a summary names. */
const MAX_NAMED = 10;

/** What was refused beyond the lines of a period. */
export interface RefusalCounts {
  refused: number;
  /** By error code. */
  codes: Record<string, number>;
  /** By address or network, those with the most. */
  addresses: Record<string, number>;
  /** Those from further addresses. */
  fromOthers: number;
}

/**
 * Decides which refused requests get a line in the log, and sums up the others once a second. A flood of them would push
 * every other line out of the log. Each caller has some lines of its own, so that a flood hides nobody who tries
 * credentials beside it.
 */
export class RefusalSummary {
  private readonly write: (counts: RefusalCounts) => void;
  private readonly now: () => number;
  private endsAtMs = 0;
  private lines = 0;
  private firstLines = 0;
  private readonly refusedOfCaller = new Map<string, number>();
  private refused = 0;
  private readonly byCode = new Map<string, number>();
  private readonly byCaller = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  /** `now` gives milliseconds that only grow. */
  constructor(write: (counts: RefusalCounts) => void, now: () => number = () => performance.now()) {
    this.write = write;
    this.now = now;
  }

  /** Whether a refused request gets a line of its own. Otherwise it is in the next summary. */
  takesLine(code: string, address = 'unknown'): boolean {
    const nowMs = this.now();
    if (nowMs >= this.endsAtMs) this.begin(nowMs);
    const caller = callerOf(address);
    if (this.hasLine(caller)) return true;
    this.refused++;
    this.byCode.set(code, (this.byCode.get(code) ?? 0) + 1);
    // Its callers are among those that have been seen, so the number of both is bounded.
    if (this.refusedOfCaller.has(caller)) {
      this.byCaller.set(caller, (this.byCaller.get(caller) ?? 0) + 1);
    }
    this.timer ??= setTimeout(() => this.end(), this.endsAtMs - nowMs).unref();
    return false;
  }

  /** Writes what is not written yet. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.refused === 0) return;
    const named = sorted(this.byCaller).slice(0, MAX_NAMED);
    const counts = {
      refused: this.refused,
      codes: Object.fromEntries(sorted(this.byCode)),
      addresses: Object.fromEntries(named),
      fromOthers: named.reduce((rest, [, count]) => rest - count, this.refused),
    };
    this.refused = 0;
    this.byCode.clear();
    this.byCaller.clear();
    this.write(counts);
  }

  private begin(nowMs: number): void {
    this.end();
    this.endsAtMs = nowMs + PERIOD_MS;
    this.lines = 0;
    this.firstLines = 0;
    this.refusedOfCaller.clear();
  }

  private hasLine(caller: string): boolean {
    const before = this.refusedOfCaller.get(caller);
    if (before === undefined) {
      if (this.refusedOfCaller.size === MAX_CALLERS) return false;
      this.refusedOfCaller.set(caller, 1);
      return ++this.firstLines <= MAX_ALL_LINES - MAX_LINES;
    }
    this.refusedOfCaller.set(caller, before + 1);
    return before < MAX_LINES_PER_CALLER && ++this.lines <= MAX_LINES;
  }
}

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([, one], [, other]) => other - one);
}

/** The address, or of an IPv6 address its /64: one caller has all addresses of such a network (RFC 6177 §2). */
function callerOf(address: string): string {
  if (!address.includes(':')) return address;
  const network = ipv6Groups(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}
