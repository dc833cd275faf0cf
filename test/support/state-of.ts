import type { State, StateMetric } from '../../src/platform/metrics/state-metric.ts';

/** The current value of a metric that an object has. Throws if there is no such metric. */
export function stateOf(
  { metrics }: { readonly metrics: readonly StateMetric[] },
  name: string,
): State | Promise<State> {
  const metric = metrics.find((each) => each.name === name);
  if (!metric) throw new Error(`there is no metric ${name}`);
  return metric.read();
}
