import { Gauge, type Registry } from 'prom-client';
import { knownMethod } from './http-method.ts';
import { statusClassLabel, type StatusClass } from './status-class.ts';
import {
  LabeledCounter,
  LabeledHistogram,
  type CounterSeries,
  type HistogramSeries,
} from './instruments.ts';
import { DURATION_BUCKETS } from './request-metrics.ts';
import {
  UPSTREAM_FAILURES,
  UPSTREAM_NAMES,
  type UpstreamCall,
  type UpstreamCallObserver,
  type UpstreamName,
} from './upstream-calls.ts';

const MS_PER_SECOND = 1_000;
/** The failure of a complete response that reports an error of its server. */
const STATUS_5XX = 'status_5xx';

/** The series of one upstream. */
interface UpstreamSeries {
  active: number;
  requests: Map<StatusClass, CounterSeries>;
  byMethod: Map<string, MethodSeries>;
}

/** The series of one method. */
interface MethodSeries {
  label: string;
  firstByte: HistogramSeries;
  durations: Map<StatusClass, HistogramSeries>;
}

/**
 * Counts upstream requests. Reads that wait for new data have no duration, because that would be their waiting
 * time.
 */
export class UpstreamMetrics implements UpstreamCallObserver {
  private readonly requests: LabeledCounter<'upstream' | 'http_response_status_class'>;
  private readonly failures: LabeledCounter<'upstream' | 'kind'>;
  private readonly durations: LabeledHistogram<
    'upstream' | 'http_request_method' | 'http_response_status_class'
  >;
  private readonly firstBytes: LabeledHistogram<'upstream' | 'http_request_method'>;
  private readonly byUpstream = new Map<UpstreamName, UpstreamSeries>();

  constructor(registry: Registry) {
    this.requests = new LabeledCounter(registry, {
      name: 'gateway_upstream_requests_total',
      help: 'Requests sent to upstreams by the class of the answer, reads that wait included; class none: no answer came.',
      labelNames: ['upstream', 'http_response_status_class'],
    });
    this.durations = new LabeledHistogram(registry, {
      name: 'http_client_request_duration_seconds',
      help: 'Time from a request to an upstream to the end of its answer; without reads that wait for what is new.',
      labelNames: ['upstream', 'http_request_method', 'http_response_status_class'],
      buckets: DURATION_BUCKETS,
    });
    this.firstBytes = new LabeledHistogram(registry, {
      name: 'gateway_upstream_time_to_first_byte_seconds',
      help: 'Time from a request to an upstream to the head of its answer; without reads that wait for what is new.',
      labelNames: ['upstream', 'http_request_method'],
      buckets: DURATION_BUCKETS,
    });
    this.failures = new LabeledCounter(registry, {
      name: 'gateway_upstream_failures_total',
      help: 'Requests to upstreams that failed, by how: no connection, no answer in time, an unusable or a broken one, a status of 500 and above; stale: a kept connection had been closed, and the request was sent again.',
      labelNames: ['upstream', 'kind'],
    });
    for (const upstream of UPSTREAM_NAMES) this.announce(upstream);
    this.addActiveGauge(registry);
  }

  began({ upstream }: UpstreamCall): void {
    this.of(upstream).active++;
  }

  answered(call: UpstreamCall): void {
    const { upstream, status, startedAtMs, answeredAtMs = startedAtMs } = call;
    this.requestsOf(upstream, statusClassLabel(status)).add();
    if (call.context.live) return;
    const { firstByte } = this.methodOf(upstream, call.method);
    firstByte.observe((answeredAtMs - startedAtMs) / MS_PER_SECOND, call.context.recordedTraceId);
  }

  ended(call: UpstreamCall): void {
    const { upstream, status, failure, startedAtMs, endedAtMs = startedAtMs } = call;
    this.of(upstream).active--;
    if (failure === 'stale') {
      // The upstream received nothing. The request is counted when it is sent again.
      this.failures.series({ upstream, kind: failure }).add();
      return;
    }
    const statusClass = statusClassLabel(status);
    if (status === undefined) this.requestsOf(upstream, statusClass).add();
    if (failure === 'canceled') return;
    const kind = failure ?? (statusClass === '5xx' ? STATUS_5XX : undefined);
    if (kind) this.failures.series({ upstream, kind }).add();
    if (call.context.live) return;
    this.durationOf(upstream, call.method, statusClass).observe(
      (endedAtMs - startedAtMs) / MS_PER_SECOND,
      call.context.recordedTraceId,
    );
  }

  /** Exports an upstream from the start, because a rate does not see the first value of a new series. */
  private announce(upstream: UpstreamName): void {
    this.byUpstream.set(upstream, { active: 0, requests: new Map(), byMethod: new Map() });
    this.requestsOf(upstream, '2xx');
    for (const kind of UPSTREAM_FAILURES) {
      if (kind !== 'canceled') this.failures.series({ upstream, kind });
    }
    this.failures.series({ upstream, kind: STATUS_5XX });
  }

  private addActiveGauge(registry: Registry): void {
    const { byUpstream } = this;
    new Gauge({
      name: 'http_client_active_requests',
      help: 'Requests to upstreams under way, reads that wait included.',
      labelNames: ['upstream'],
      registers: [registry],
      collect() {
        for (const [upstream, { active }] of byUpstream) this.set({ upstream }, active);
      },
    });
  }

  private of(upstream: UpstreamName): UpstreamSeries {
    return this.byUpstream.get(upstream) as UpstreamSeries;
  }

  private requestsOf(upstream: UpstreamName, statusClass: StatusClass): CounterSeries {
    const { requests } = this.of(upstream);
    let series = requests.get(statusClass);
    if (!series) {
      series = this.requests.series({ upstream, http_response_status_class: statusClass });
      requests.set(statusClass, series);
    }
    return series;
  }

  private methodOf(upstream: UpstreamName, method: string): MethodSeries {
    const { byMethod } = this.of(upstream);
    let series = byMethod.get(method);
    if (!series) {
      const label = knownMethod(method);
      const firstByte = this.firstBytes.series({ upstream, http_request_method: label });
      series = { label, firstByte, durations: new Map() };
      byMethod.set(method, series);
    }
    return series;
  }

  private durationOf(
    upstream: UpstreamName,
    method: string,
    statusClass: StatusClass,
  ): HistogramSeries {
    const { label, durations } = this.methodOf(upstream, method);
    let series = durations.get(statusClass);
    if (!series) {
      series = this.durations.series({
        upstream,
        http_request_method: label,
        http_response_status_class: statusClass,
      });
      durations.set(statusClass, series);
    }
    return series;
  }
}
