import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Registry, type Metric } from 'prom-client';
import { eventLoopMetrics } from './event-loop-metrics.ts';
import { gcMetric } from './gc-metrics.ts';
import { addStateMetric, type StateMetric } from './state-metric.ts';

/**
 * The metrics of the package that are used. Others count handles one by one, which is slow with ten thousand
 * connections, or are gauges with names of counters, or miss some events.
 */
const TAKEN = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
];

/** The package's own event-loop monitor is stopped, because its values are not used. */
const NEVER_MS = 2 ** 31 - 1;

let ofThisProcess: { metrics: Metric[]; states: StateMetric[] } | undefined;

/**
 * Adds the metrics of the process: processor, memory, garbage collection, event loop. They are created once per
 * process and shared by its registries, because the event-loop monitor cannot be stopped.
 */
export function addProcessMetrics(registry: Registry): void {
  ofThisProcess ??= {
    metrics: [...packageMetrics(), gcMetric()],
    states: [HEAP_LIMIT, ...eventLoopMetrics()],
  };
  for (const metric of ofThisProcess.metrics) registry.registerMetric(metric);
  for (const state of ofThisProcess.states) addStateMetric(registry, state);
}

function packageMetrics(): Metric[] {
  const all = new Registry();
  collectDefaultMetrics({ register: all, eventLoopMonitoringPrecision: NEVER_MS });
  return TAKEN.flatMap((name) => all.getSingleMetric(name) ?? []);
}

const HEAP_LIMIT: StateMetric = {
  name: 'nodejs_heap_size_limit_bytes',
  help: 'Heap that Node takes at most; a process that needs more ends.',
  read: () => getHeapStatistics().heap_size_limit,
};
