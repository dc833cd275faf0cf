import type { Registry } from 'prom-client';
import { ERROR_CODES, type ErrorCode } from '../platform/errors/error-codes.ts';
import { ERROR_REASONS } from '../platform/errors/gateway-error.ts';
import { LabeledCounter } from '../platform/metrics/instruments.ts';
import type { EndedRequest, RequestObserver } from '../platform/telemetry/request-observer.ts';

/** The codes whose reasons alerts watch. Prometheus sees an increase only from a 0 on. */
const WATCHED_REASONS: Partial<Record<ErrorCode, readonly string[]>> = {
  invalid_credentials: ERROR_REASONS.credential,
  overloaded: ERROR_REASONS.limit,
  rate_limited: ['requests_per_second'],
};

/** Counts the gateway's errors by code and reason. */
export class ProblemMetrics implements RequestObserver {
  private readonly problems: LabeledCounter<readonly ['code', 'reason']>;

  constructor(registry: Registry) {
    this.problems = new LabeledCounter(registry, {
      name: 'gateway_problems_total',
      help: "Requests that ended in an error of the gateway's own, by its code, and by its reason where the code has several.",
      labelNames: ['code', 'reason'],
    });
    for (const code of Object.keys(ERROR_CODES)) this.problems.series(code, '');
    for (const [code, reasons] of Object.entries(WATCHED_REASONS)) {
      for (const reason of reasons) this.problems.series(code, reason);
    }
  }

  ended({ context: { errorCode, errorReason, expiresAtMs } }: EndedRequest): void {
    // The event stream of a slow reader ends without a code.
    const code = errorCode ?? (errorReason === 'slow_reader' ? 'overloaded' : undefined);
    if (code === undefined) return;
    // A token that was valid when the request came has expired while its read was parked.
    const isParked = code === 'token_expired' && expiresAtMs !== undefined;
    this.problems.series(code, errorReason ?? (isParked ? 'parked' : '')).add();
  }
}
