import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { Counter, Gauge, type Metric } from 'prom-client';

/** The interval of a timer. Its delay is the lag of the event loop. */
const RESOLUTION_MS = 20;
const NS_PER_SECOND = 1e9;
const MS_PER_SECOND = 1_000;

/** Measures the lag and the utilization of the event loop from now on, until the process ends. */
export function eventLoopMetrics(): Metric[] {
  return [...lagGauges(), busyTime()];
}

/**
 * The names are those of the package's metrics. Those report the time between two callbacks as the lag, which is 10
 * ms for an idle loop.
 */
function lagGauges(): Metric[] {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const inSeconds = (delayNs: number): number =>
    delays.count === 0 ? 0 : Math.max(0, delayNs / NS_PER_SECOND - RESOLUTION_MS / MS_PER_SECOND);
  const p99 = lagGauge('p99');
  const max = lagGauge('max');
  // It is registered first, so that it sets the other gauges before they are read.
  const p50 = lagGauge('p50', () => {
    p50.set(inSeconds(delays.percentile(50)));
    p99.set(inSeconds(delays.percentile(99)));
    max.set(inSeconds(delays.max));
    delays.reset();
  });
  return [p50, p99, max];
}

function lagGauge(name: string, collect?: () => void): Gauge {
  return new Gauge({
    name: `nodejs_eventloop_lag_${name}_seconds`,
    help: `How late the event loop was since the metrics were asked for before (${name}).`,
    registers: [],
    ...(collect && { collect }),
  });
}

/**
 * Named after OpenTelemetry's `nodejs.eventloop.time`. The rate of `active` is the share of time in which the
 * thread is busy.
 */
function busyTime(): Metric {
  return new Counter({
    name: 'nodejs_eventloop_time_seconds_total',
    help: 'Time that the event loop has been active, and idle.',
    labelNames: ['nodejs_eventloop_state'],
    registers: [],
    collect() {
      const { active, idle } = performance.eventLoopUtilization();
      this.reset();
      this.inc({ nodejs_eventloop_state: 'active' }, active / MS_PER_SECOND);
      this.inc({ nodejs_eventloop_state: 'idle' }, idle / MS_PER_SECOND);
    },
  });
}
