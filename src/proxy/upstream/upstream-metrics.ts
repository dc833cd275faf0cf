import type { Registry } from 'prom-client';
import { knownMethod } from '../../platform/telemetry/http-method.ts';
import { LabeledCounter, LabeledHistogram } from '../../platform/metrics/instruments.ts';
import { addStateMetric } from '../../platform/metrics/state-metric.ts';
import type { Attempt, AttemptObserver } from './attempt.ts';
import { DURATION_BUCKETS } from '../../platform/telemetry/request-metrics.ts';
import { statusClassLabel } from '../../platform/telemetry/status-class.ts';
import { UPSTREAM_FAILURES, UPSTREAM_NAMES, type UpstreamName } from './upstream-failure.ts';

const MS_PER_SECOND = 1_000;
/** The failure of a complete response that reports an error of its server. */
const STATUS_5XX = 'status_5xx';
/** The methods that each upstream gets, but for rare ones. */
const METHODS: Record<UpstreamName, readonly string[]> = {
  history: ['GET', 'PUT', 'POST', 'DELETE'],
  sync: ['GET'],
  'runtime-ingress': ['POST'],
  'runtime-admin': ['GET', 'POST'],
};

/**
 * Counts upstream requests. Reads that wait for new data have no duration, because that would be their waiting
 * time.
 */
export class UpstreamMetrics implements AttemptObserver {
  private readonly active: Record<UpstreamName, number> = {
    history: 0,
    sync: 0,
    'runtime-ingress': 0,
    'runtime-admin': 0,
  };
  private readonly requests;
  private readonly failures;
  private readonly durations;
  private readonly firstBytes;

  constructor(registry: Registry) {
    this.requests = new LabeledCounter(registry, {
      name: 'gateway_upstream_requests_total',
      help: 'Requests sent to upstreams by the class of the answer, reads that wait included; class none: no answer came.',
      labelNames: ['upstream', 'http_request_method', 'http_response_status_class'],
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
      labelNames: ['upstream', 'http_request_method', 'kind'],
    });
    this.announce();
    addStateMetric(registry, {
      name: 'http_client_active_requests',
      help: 'Requests to upstreams under way, reads that wait included.',
      label: 'upstream',
      read: () => this.active,
    });
  }

  began({ upstream }: Attempt): void {
    this.active[upstream.name]++;
  }

  answered({ upstream: { name }, request, status, startedAtMs, answeredAtMs }: Attempt): void {
    const { method, context } = request;
    this.requests.series(name, knownMethod(method), statusClassLabel(status)).add();
    if (context.live || answeredAtMs === undefined) return;
    this.firstBytes
      .series(name, knownMethod(method))
      .observe((answeredAtMs - startedAtMs) / MS_PER_SECOND);
  }

  ended({ upstream, request, status, failure, startedAtMs, endedAtMs }: Attempt): void {
    const { method, context } = request;
    const { name } = upstream;
    this.active[name]--;
    if (failure === 'stale') {
      // The upstream received nothing. The request is counted when it is sent again.
      this.failures.series(name, knownMethod(method), failure).add();
      return;
    }
    const statusClass = statusClassLabel(status);
    if (status === undefined) this.requests.series(name, knownMethod(method), statusClass).add();
    if (failure === 'canceled') return;
    const kind = failure ?? (statusClass === '5xx' ? STATUS_5XX : undefined);
    if (kind) this.failures.series(name, knownMethod(method), kind).add();
    if (context.live || endedAtMs === undefined) return;
    this.durations
      .series(name, knownMethod(method), statusClass)
      .observe((endedAtMs - startedAtMs) / MS_PER_SECOND);
  }

  /** Exports each of these from the start, because a rate does not see the first value of a new series. */
  private announce(): void {
    for (const upstream of UPSTREAM_NAMES) {
      for (const method of METHODS[upstream]) {
        this.requests.series(upstream, method, '2xx');
        for (const kind of UPSTREAM_FAILURES) {
          if (kind !== 'canceled') this.failures.series(upstream, method, kind);
        }
        this.failures.series(upstream, method, STATUS_5XX);
      }
    }
  }
}
