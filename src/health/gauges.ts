import { Counter, Gauge, type Registry } from 'prom-client';
import type { GatewayParts } from './gateway-parts.ts';
import {
  KEY_SET_METRICS,
  STATE_METRICS,
  type FurtherParts,
  type State,
  type StateMetric,
} from './state-metrics.ts';

/** Adds gauges of the gateway's state. They are computed only when the metrics are requested. */
export function addGauges(registry: Registry, parts: GatewayParts, further: FurtherParts): void {
  for (const metric of STATE_METRICS) addMetric(registry, metric, parts, further);
  if (!parts.keySet) return;
  for (const metric of KEY_SET_METRICS) addMetric(registry, metric, parts, further);
}

function addMetric(
  registry: Registry,
  { name, help, label, isCounter = false, read }: StateMetric,
  parts: GatewayParts,
  further: FurtherParts,
): void {
  const set = (state: State): void => {
    metric.reset();
    if (typeof state === 'number') metric.inc(state);
    else
      for (const [value, count] of Object.entries(state))
        metric.inc({ [`${label}`]: value }, count);
  };
  const metric = new (isCounter ? Counter : Gauge)({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect: () => {
      const state = read(parts, further);
      return state instanceof Promise ? state.then(set) : set(state);
    },
  });
}
