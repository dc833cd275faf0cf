import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Gauge, Registry, type Metric } from 'prom-client';
import { eventLoopMetrics } from './event-loop-metrics.ts';
import { gcMetric } from './gc-metrics.ts';

/**
 * What is taken of the package's own metrics of the process. The others count handles one by one,
 * which takes long with ten thousand connections, are gauges named as counters are, or miss some.
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

/** The package's own watch over the event loop, whose numbers are not taken, is not to run. */
const NEVER_MS = 2 ** 31 - 1;

let ofThisProcess: Metric[] | undefined;

/**
 * Adds the metrics of the process: processor, memory, garbage collection, event loop. They are made
 * once a process and shared by its registries: what watches the event loop cannot be called off.
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
