import { Registry } from 'prom-client';
import type { RequestObserver } from './request-observer.ts';
import { addStateMetric, type StateMetric } from '../metrics/state-metric.ts';

/** The observers and metrics of one gateway. */
export class Telemetry {
  /** It is not the package's global registry, because tests run several gateways in a process. */
  readonly registry = new Registry();
  /** The observers of every request on the public port, in the order of their calls. */
  readonly requests: RequestObserver[] = [];

  /** Exports what an object says of its state, and returns the object. */
  show<Shown extends { readonly metrics: readonly StateMetric[] }>(shown: Shown): Shown {
    for (const metric of shown.metrics) addStateMetric(this.registry, metric);
    return shown;
  }
}
