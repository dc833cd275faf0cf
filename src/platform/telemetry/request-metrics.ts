import type { Registry } from 'prom-client';
import { CLIENT_GONE_STATUS } from '../http/client-gone.ts';
import type { LiveMode } from './read-share-metrics.ts';
import { knownMethod } from './http-method.ts';
import { statusClassLabel, type StatusClass } from './status-class.ts';
import {
  LabeledCounter,
  LabeledHistogram,
  type CounterSeries,
  type HistogramSeries,
} from './instruments.ts';
import type { EndedRequest, RequestObserver } from './request-observer.ts';

const MS_PER_SECOND = 1_000;
/**
 * The buckets of durations in seconds: those of OpenTelemetry's conventions, finer at the lower end, because a
 * gateway adds little.
 */
export const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
/** The buckets of waiting reads in seconds. They last as long as there is no new data, or as the reader stays. */
const LIVE_BUCKETS = [0.1, 1, 5, 10, 20, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];

/** The route label of a request without one: unknown, malformed, or refused earlier. */
const NO_ROUTE = 'none';

/** The series of one route and method. */
interface RouteSeries {
  route: string;
  method: string;
  firstByte: HistogramSeries | undefined;
  byClass: Map<StatusClass, OutcomeSeries>;
}

/** The series of one class of status. */
interface OutcomeSeries {
  requests: CounterSeries;
  /** The series of reads that are answered at once, and of reads that wait. */
  duration: Partial<Record<'at-once' | LiveMode, HistogramSeries>>;
}

/**
 * Counts requests by route, method and class of status. Reads that wait for new data have a histogram of their own,
 * because they would hide how fast the other requests are.
 */
export class RequestMetrics implements RequestObserver {
  private readonly byRoute = new Map<string, Map<string, RouteSeries>>();
  private readonly requests: LabeledCounter<
    'http_request_method' | 'http_route' | 'http_response_status_class'
  >;
  private readonly durations: LabeledHistogram<
    'http_request_method' | 'http_route' | 'http_response_status_class'
  >;
  private readonly firstBytes: LabeledHistogram<'http_request_method' | 'http_route'>;
  private readonly liveReads: LabeledHistogram<
    'http_route' | 'mode' | 'http_response_status_class'
  >;
  private readonly byCredential: LabeledCounter<'credential' | 'outcome'>;
  /** There are few, because the names come from the settings. */
  private readonly credentials = new Map<string, Map<StatusClass, CounterSeries>>();

  constructor(registry: Registry) {
    const byOutcome = ['http_request_method', 'http_route', 'http_response_status_class'] as const;
    this.requests = new LabeledCounter(registry, {
      name: 'gateway_requests_total',
      help: 'Requests that have ended, reads that wait included; class none: the client went before its answer began.',
      labelNames: byOutcome,
    });
    this.durations = new LabeledHistogram(registry, {
      name: 'http_server_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer; without reads that wait for what is new.',
      labelNames: byOutcome,
      buckets: DURATION_BUCKETS,
    });
    this.firstBytes = new LabeledHistogram(registry, {
      name: 'gateway_time_to_first_byte_seconds',
      help: 'Time from the head of a proxied request to the head of its answer; without reads that wait for what is new.',
      labelNames: ['http_request_method', 'http_route'],
      buckets: DURATION_BUCKETS,
    });
    this.liveReads = new LabeledHistogram(registry, {
      name: 'gateway_live_read_duration_seconds',
      help: 'Time from the head of a read that waits for what is new to the end of its answer, by how it waits.',
      labelNames: ['http_route', 'mode', 'http_response_status_class'],
      buckets: LIVE_BUCKETS,
    });
    this.byCredential = new LabeledCounter(registry, {
      name: 'gateway_credential_requests_total',
      help: 'Requests with a valid credential, by the name of the API key, or read-token, and by class of status.',
      labelNames: ['credential', 'outcome'],
    });
  }

  /** Exports these routes from the start, because a rate does not see the first value of a new series. */
  announce(routes: readonly { method: string; path: string }[]): void {
    for (const { method, path } of routes) {
      const series = this.seriesOf(path, method);
      for (const statusClass of ['2xx', '4xx', '5xx'] as const) this.outcomeOf(series, statusClass);
    }
  }

  ended({ method, status, durationMs, context }: EndedRequest): void {
    const series = this.seriesOf(context.route ?? NO_ROUTE, method);
    const statusClass = statusClassLabel(status === CLIENT_GONE_STATUS ? undefined : status);
    const outcome = this.outcomeOf(series, statusClass);
    outcome.requests.add();
    if (context.credential) this.credentialSeries(context.credential, statusClass).add();
    const kind = context.live ?? 'at-once';
    outcome.duration[kind] ??= this.durationOf(series, statusClass, context.live);
    const traceId = context.recordedTraceId;
    outcome.duration[kind].observe(durationMs / MS_PER_SECOND, traceId);
    if (context.live || context.answeredAtMs === undefined) return;
    series.firstByte ??= this.firstBytes.series({
      http_request_method: series.method,
      http_route: series.route,
    });
    series.firstByte.observe((context.answeredAtMs - context.startedAtMs) / MS_PER_SECOND, traceId);
  }

  private credentialSeries(credential: string, outcome: StatusClass): CounterSeries {
    let byOutcome = this.credentials.get(credential);
    if (!byOutcome) {
      this.credentials.set(credential, (byOutcome = new Map<StatusClass, CounterSeries>()));
    }
    let series = byOutcome.get(outcome);
    if (!series) {
      series = this.byCredential.series({ credential, outcome });
      byOutcome.set(outcome, series);
    }
    return series;
  }

  private durationOf(
    { route: http_route, method: http_request_method }: RouteSeries,
    http_response_status_class: StatusClass,
    mode: LiveMode | undefined,
  ): HistogramSeries {
    return mode
      ? this.liveReads.series({ http_route, mode, http_response_status_class })
      : this.durations.series({ http_request_method, http_route, http_response_status_class });
  }

  private seriesOf(route: string, method: string): RouteSeries {
    let ofRoute = this.byRoute.get(route);
    if (!ofRoute) this.byRoute.set(route, (ofRoute = new Map<string, RouteSeries>()));
    let series = ofRoute.get(method);
    if (!series) {
      const label = knownMethod(method);
      series = ofRoute.get(label) ?? {
        route,
        method: label,
        firstByte: undefined,
        byClass: new Map<StatusClass, OutcomeSeries>(),
      };
      ofRoute.set(label, series);
    }
    return series;
  }

  private outcomeOf(series: RouteSeries, statusClass: StatusClass): OutcomeSeries {
    let outcome = series.byClass.get(statusClass);
    if (!outcome) {
      const requests = this.requests.series({
        http_request_method: series.method,
        http_route: series.route,
        http_response_status_class: statusClass,
      });
      outcome = { requests, duration: {} };
      series.byClass.set(statusClass, outcome);
    }
    return outcome;
  }
}
