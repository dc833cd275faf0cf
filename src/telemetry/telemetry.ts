import type { RequestObserver } from './request-observer.ts';
import { UpstreamCalls } from './upstream-calls.ts';

/** The two places from which everything is seen that a gateway does; one of them a gateway. */
export class Telemetry {
  /** Who is told of every request of the public port, in this order. */
  readonly requests: RequestObserver[] = [];
  readonly upstreamCalls = new UpstreamCalls();
}
