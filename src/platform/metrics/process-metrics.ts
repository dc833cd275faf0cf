import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Gauge, Registry, type Metric } from 'prom-client';
import { eventLoopMetrics } from './event-loop-metrics.ts';
import { gcMetric } from './gc-metrics.ts';

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

let ofThisProcess: Metric[] | undefined;

/**
 * Adds the metrics of the process: processor, memory, garbage collection, event loop. They are created once per
 * process and shared by its registries, because the event-loop monitor cannot be stopped.
 */
export function addProcessMetrics(registry: Registry): void {
  ofThisProcess ??= makeProcessMetrics();
  for (const metric of ofThisProcess) registry.registerMetric(metric);
}

function makeProcessMetrics(): Metric[] {
  const all = new Registry();
  collectDefaultMetrics({ register: all, eventLoopMonitoringPrecision: NEVER_MS });
  const taken = TAKEN.flatMap((name) => all.getSingleMetric(name) ?? []);
  return [...taken, heapLimit(), gcMetric(), ...eventLoopMetrics()];
}

function heapLimit(): Metric {
  return new Gauge({
    name: 'nodejs_heap_size_limit_bytes',
    help: 'Heap that Node takes at most; a process that needs more ends.',
    registers: [],
    collect() {
      this.set(getHeapStatistics().heap_size_limit);
    },
  });
}
