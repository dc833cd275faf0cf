import type { Registry } from 'prom-client';
import { ERROR_CODES, type ErrorCode } from '../platform/errors/error-codes.ts';
import { ERROR_REASONS } from '../platform/errors/gateway-error.ts';
import { LabeledCounter, type CounterSeries } from '../platform/metrics/instruments.ts';
import type { EndedRequest, RequestObserver } from '../platform/telemetry/request-observer.ts';

/** A counter of refusals by reason. */
interface RefusalKind {
  name: string;
  help: string;
  label: string;
  /** The codes that it counts, each with the reason of errors that have none, if there are such. */
  codes: Partial<Record<ErrorCode, string | undefined>>;
  /** The reasons that errors have. */
  reasons: readonly string[];
}

const KINDS: readonly RefusalKind[] = [
  {
    name: 'gateway_auth_refusals_total',
    help: 'Requests refused for their credential, by reason.',
    label: 'reason',
    codes: {
      missing_credentials: 'missing',
      invalid_credentials: undefined,
      token_expired: 'expired',
      keys_unavailable: 'keys_unavailable',
      prefix_not_covered: 'prefix_not_covered',
      scope_not_covered: 'scope_not_covered',
      read_only_token: 'read_only_token',
      table_not_allowed: 'table_not_allowed',
      shape_not_covered: 'shape_not_covered',
    },
    reasons: ERROR_REASONS.credential,
  },
  {
    name: 'gateway_bodies_refused_total',
    help: 'Request bodies refused, by reason: over the cap as declared or as counted, over the limit of the runtime, in a transfer coding that is not served, or not what the command asks for.',
    label: 'reason',
    codes: { body_too_large: undefined, invalid_body: 'invalid' },
    reasons: ERROR_REASONS.body,
  },
  {
    name: 'gateway_limit_refusals_total',
    help: 'Requests turned away at a limit, by which.',
    label: 'limit',
    codes: { overloaded: undefined, rate_limited: undefined },
    reasons: ERROR_REASONS.limit,
  },
];

/** Counts the gateway's errors by code, and refusals by reason. */
export class RefusalMetrics implements RequestObserver {
  private readonly problems: LabeledCounter<readonly ['code']>;
  private readonly refusals: readonly {
    codes: RefusalKind['codes'];
    counter: LabeledCounter<readonly [string]>;
  }[];
  private readonly slowReaders: CounterSeries;
  private readonly expiries: LabeledCounter<readonly ['when']>;

  constructor(registry: Registry) {
    this.problems = new LabeledCounter(registry, {
      name: 'gateway_problems_total',
      help: "Requests that ended in an error of the gateway's own, by its code.",
      labelNames: ['code'],
    });
    for (const code of Object.keys(ERROR_CODES)) this.problems.series(code);
    this.refusals = KINDS.map(({ name, help, label, codes, reasons }) => {
      const counter = new LabeledCounter(registry, { name, help, labelNames: [label] });
      for (const reason of [...reasons, ...Object.values(codes)]) {
        if (reason !== undefined) counter.series(reason);
      }
      return { codes, counter };
    });
    this.slowReaders = new LabeledCounter(registry, {
      name: 'gateway_slow_readers_total',
      help: 'Event streams ended because their reader fell too far behind the others.',
      labelNames: [],
    }).series();
    this.expiries = new LabeledCounter(registry, {
      name: 'gateway_token_expiries_total',
      help: 'Read tokens that were expired when a request came with them, or expired while its read was parked or streaming.',
      labelNames: ['when'],
    });
    for (const when of ['before', 'parked', 'streaming']) this.expiries.series(when);
  }

  ended(request: EndedRequest): void {
    const { errorCode, errorReason } = request.context;
    this.countExpiry(request);
    if (errorReason === 'slow_reader') this.slowReaders.add();
    if (errorCode === undefined) return;
    this.problems.series(errorCode).add();
    const refusal = this.refusals.find(({ codes }) => errorCode in codes);
    const reason = errorReason ?? refusal?.codes[errorCode];
    if (reason !== undefined) refusal?.counter.series(reason).add();
  }

  private countExpiry({ context: { errorCode, expiresAtMs, live } }: EndedRequest): void {
    if (errorCode === 'token_expired') {
      this.expiries.series(expiresAtMs === undefined ? 'before' : 'parked').add();
    } else if (expiresAtMs !== undefined && live === 'sse' && expiresAtMs <= Date.now()) {
      this.expiries.series('streaming').add();
    }
  }
}
