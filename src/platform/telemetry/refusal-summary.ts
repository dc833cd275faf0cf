import { ipv6Groups } from '../http/ip-nets.ts';

const PERIOD_MS = 1_000;
/** The refusals of one caller that have a line of their own in a period. */
const MAX_LINES_PER_CALLER = 100;
/** Those of all callers together. From half of them on, each caller has only its first one. */
const MAX_LINES = 1_000;
const MAX_LINES_BEFORE_FIRST_ONLY = 500;
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
  private lines = 0;
  /** The lines of each caller that has one, and its refusals without one. The lines bound their number. */
  private readonly callers = new Map<string, { lines: number; refused: number }>();
  private readonly byCode = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(write: (counts: RefusalCounts) => void) {
    this.write = write;
  }

  /** Whether a refused request gets a line of its own. Otherwise it is in the next summary. */
  takesLine(code: string, address = 'unknown'): boolean {
    this.timer ??= setTimeout(() => this.end(), PERIOD_MS).unref();
    const name = callerOf(address);
    const caller = this.callers.get(name) ?? { lines: 0, refused: 0 };
    const maxLines = caller.lines === 0 ? MAX_LINES : MAX_LINES_BEFORE_FIRST_ONLY;
    if (caller.lines < MAX_LINES_PER_CALLER && this.lines < maxLines) {
      this.lines++;
      caller.lines++;
      this.callers.set(name, caller);
      return true;
    }
    caller.refused++;
    this.byCode.set(code, (this.byCode.get(code) ?? 0) + 1);
    return false;
  }

  /** Writes what is not written yet, and begins the next period. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const codes = sorted(this.byCode);
    const refused = codes.reduce((sum, [, count]) => sum + count, 0);
    const refusedOf = [...this.callers].map(([name, caller]): Count => [name, caller.refused]);
    const named = sorted(refusedOf.filter(([, count]) => count > 0)).slice(0, MAX_NAMED);
    this.lines = 0;
    this.callers.clear();
    this.byCode.clear();
    if (refused === 0) return;
    this.write({
      refused,
      codes: Object.fromEntries(codes),
      addresses: Object.fromEntries(named),
      fromOthers: named.reduce((rest, [, count]) => rest - count, refused),
    });
  }
}

type Count = [name: string, count: number];

function sorted(counts: Iterable<Count>): Count[] {
  return [...counts].sort(([, one], [, other]) => other - one);
}

/** The address, or of an IPv6 address its /64: one caller has all addresses of such a network (RFC 6177 §2). */
function callerOf(address: string): string {
  if (!address.includes(':')) return address;
  const network = ipv6Groups(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}
