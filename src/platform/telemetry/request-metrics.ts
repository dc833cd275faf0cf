import type { Registry } from 'prom-client';
import { CLIENT_GONE_STATUS } from '../http/client-gone.ts';
import { knownMethod } from './http-method.ts';
import { statusClassLabel } from './status-class.ts';
import { LabeledCounter, LabeledHistogram } from '../metrics/instruments.ts';
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

/**
 * Counts requests by route, method and class of status. Reads that wait for new data have a histogram of their own,
 * because they would hide how fast the other requests are.
 */
export class RequestMetrics implements RequestObserver {
  private readonly requests;
  private readonly durations;
  private readonly firstBytes;
  private readonly liveReads;
  private readonly byCredential;

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

  /**
   * Exports these routes and this credential from the start, because a rate does not see the first value of a new series.
   * Alerts compare refused credentials with the latter, even if none was ever valid.
   */
  announce(routes: readonly { method: string; path: string }[], credential: string): void {
    this.byCredential.series(credential, '2xx');
    for (const { method, path } of routes) {
      for (const statusClass of ['2xx', '4xx', '5xx'] as const) {
        this.requests.series(knownMethod(method), path, statusClass);
      }
    }
  }

  ended({ method: sentMethod, status, durationMs, context }: EndedRequest): void {
    const { route = NO_ROUTE, credential, live, startedAtMs, answeredAtMs } = context;
    const method = knownMethod(sentMethod);
    const statusClass = statusClassLabel(status === CLIENT_GONE_STATUS ? undefined : status);
    this.requests.series(method, route, statusClass).add();
    if (credential) this.byCredential.series(credential, statusClass).add();
    const durations = live
      ? this.liveReads.series(route, live, statusClass)
      : this.durations.series(method, route, statusClass);
    durations.observe(durationMs / MS_PER_SECOND);
    if (live || answeredAtMs === undefined) return;
    this.firstBytes.series(method, route).observe((answeredAtMs - startedAtMs) / MS_PER_SECOND);
  }
}
