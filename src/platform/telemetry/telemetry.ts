import { Registry } from 'prom-client';
import type { RequestObserver } from './request-observer.ts';
import { ReadShareMetrics } from './read-share-metrics.ts';
import { UpstreamCalls } from './upstream-calls.ts';

/** The observers and metrics of one gateway. */
export class Telemetry {
  /** It is not the package's global registry, because tests run several gateways in a process. */
  readonly registry = new Registry();
  /** The observers of every request on the public port, in the order of their calls. */
  readonly requests: RequestObserver[] = [];
  readonly upstreamCalls = new UpstreamCalls();
  readonly sharedReads = new ReadShareMetrics(this.registry);
}
