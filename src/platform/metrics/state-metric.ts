import { Counter, Gauge, type Registry } from 'prom-client';

/** One value, or one for each value of the label. */
export type State = number | Record<string, number>;

/** A metric that is read from the state of an object. The object that has the state declares it. */
export interface StateMetric {
  name: string;
  help: string;
  /** The name of the label, if there is one. */
  label?: string;
  /** Whether the value only grows. */
  isCounter?: boolean;
  read: () => State | Promise<State>;
}

/** Exports a metric. Its state is read only when the metrics are requested. */
export function addStateMetric(
  registry: Registry,
  { name, help, label, isCounter = false, read }: StateMetric,
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
      const state = read();
      return state instanceof Promise ? state.then(set) : set(state);
    },
  });
}
