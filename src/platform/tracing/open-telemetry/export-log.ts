import type { Logger } from 'pino';

const QUIET_MS = 60_000;
const MAX_DETAIL_LENGTH = 200;

/**
 * Logs spans that could not be exported, at most one line per minute, because every batch fails while a collector
 * is down. The first failure is logged at once, and a later line counts the losses since.
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

  /** A batch that the collector did not accept, after all retries. */
  lost(spans: number, cause: unknown): void {
    this.lostSpans += spans;
    // The `code` of the exporter's error is the status of a response, or a name for a lost connection.
    const { code } = (cause ?? {}) as { code?: unknown };
    // The collector's own message is left out, because it may repeat the refused data.
    const why = typeof code === 'number' ? { status: code } : { err: cause };
    this.warn(why, 'spans could not be sent');
  }

  /** Messages of the SDK itself, for example that its queue was full. */
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
