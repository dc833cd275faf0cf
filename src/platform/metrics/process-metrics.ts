import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Registry, type Metric } from 'prom-client';
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
  // It also sets the values of the next ones.
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_eventloop_lag_max_seconds',
];

const MS_PER_SECOND = 1_000;

let ofThisProcess: { metrics: Metric[]; states: StateMetric[] } | undefined;

/**
 * Adds the metrics of the process: processor, memory, garbage collection, event loop. They are created once per
 * process and shared by its registries, because the event-loop monitor cannot be stopped.
 */
export function addProcessMetrics(registry: Registry): void {
  ofThisProcess ??= {
    metrics: [...packageMetrics(), gcMetric()],
    states: [HEAP_LIMIT, BUSY_TIME],
  };
  for (const metric of ofThisProcess.metrics) registry.registerMetric(metric);
  for (const state of ofThisProcess.states) addStateMetric(registry, state);
}

function packageMetrics(): Metric[] {
  const all = new Registry();
  collectDefaultMetrics({ register: all });
  return TAKEN.flatMap((name) => all.getSingleMetric(name) ?? []);
}

const HEAP_LIMIT: StateMetric = {
  name: 'nodejs_heap_size_limit_bytes',
  help: 'Heap that Node takes at most; a process that needs more ends.',
  read: () => getHeapStatistics().heap_size_limit,
};

/**
 * Named after OpenTelemetry's `nodejs.eventloop.time`. The rate of `active` is the share of time in which the
 * thread is busy.
 */
const BUSY_TIME: StateMetric = {
  name: 'nodejs_eventloop_time_seconds_total',
  help: 'Time that the event loop has been active, and idle.',
  label: 'nodejs_eventloop_state',
  isCounter: true,
  read: () => {
    const { active, idle } = performance.eventLoopUtilization();
    return { active: active / MS_PER_SECOND, idle: idle / MS_PER_SECOND };
  },
};
