import type { Logger } from 'pino';

const QUIET_MS = 60_000;
const MAX_DETAIL_LENGTH = 200;

/**
 * What the log says of spans that did not get out: one line a minute at most, as a collector that is
 * down fails every batch. The first failure speaks at once, a later line counts what was lost since.
 */
export class ExportLog {
  private readonly logger: Logger;
  private readonly nowMs: () => number;
  private lostSpans = 0;
  private quietUntilMs = Number.NEGATIVE_INFINITY;

  /** `nowMs` is a monotonic clock. */
  constructor(logger: Logger, nowMs = (): number => performance.now()) {
    this.logger = logger;
    this.nowMs = nowMs;
  }

  /** A batch that the collector did not take, its retries included. */
  lost(spans: number, cause: unknown): void {
    this.lostSpans += spans;
    const status = statusIn(cause);
    // The words of a collector's refusal are its own, and may repeat what it refuses.
    const why = status === undefined ? { err: cause } : { status };
    this.warn(why, 'spans could not be sent');
  }

  /** What the SDK says by itself, such as that its queue was full. */
  sdkWarned(detail: string): void {
    this.warn({ detail: detail.slice(0, MAX_DETAIL_LENGTH) }, 'the tracing SDK warns');
  }

  private warn(fields: Record<string, unknown>, message: string): void {
    const nowMs = this.nowMs();
    if (nowMs < this.quietUntilMs) return;
    this.quietUntilMs = nowMs + QUIET_MS;
    this.logger.warn({ ...fields, lostSpans: this.lostSpans }, message);
    this.lostSpans = 0;
  }
}

/** The exporter's error for an answer has the status as its `code`; a lost connection's is a name. */
function statusIn(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}
