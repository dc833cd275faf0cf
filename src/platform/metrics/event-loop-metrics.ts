import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { StateMetric } from './state-metric.ts';

/** The interval of a timer. Its delay is the lag of the event loop. */
const RESOLUTION_MS = 20;
const NS_PER_SECOND = 1e9;
const MS_PER_SECOND = 1_000;

/**
 * Measures the lag and the utilization of the event loop from now on, until the process ends. The names of the lag are
 * those of the package's metrics. Those report the time between two callbacks, which is 10 ms for an idle loop.
 */
export function eventLoopMetrics(): StateMetric[] {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const inSeconds = (delayNs: number): number =>
    delays.count === 0 ? 0 : Math.max(0, delayNs / NS_PER_SECOND - RESOLUTION_MS / MS_PER_SECOND);
  let lag = { p50: 0, p99: 0, max: 0 };
  const takeLag = (): number => {
    const [p50, p99] = [delays.percentile(50), delays.percentile(99)];
    lag = { p50: inSeconds(p50), p99: inSeconds(p99), max: inSeconds(delays.max) };
    delays.reset();
    return lag.p50;
  };
  const lagMetric = (name: keyof typeof lag, read = () => lag[name]): StateMetric => ({
    name: `nodejs_eventloop_lag_${name}_seconds`,
    help: `How late the event loop was since the metrics were asked for before (${name}).`,
    read,
  });
  // The registry reads the first one first.
  return [lagMetric('p50', takeLag), lagMetric('p99'), lagMetric('max'), busyTime()];
}

/**
 * Named after OpenTelemetry's `nodejs.eventloop.time`. The rate of `active` is the share of time in which the
 * thread is busy.
 */
function busyTime(): StateMetric {
  return {
    name: 'nodejs_eventloop_time_seconds_total',
    help: 'Time that the event loop has been active, and idle.',
    label: 'nodejs_eventloop_state',
    isCounter: true,
    read: () => {
      const { active, idle } = performance.eventLoopUtilization();
      return { active: active / MS_PER_SECOND, idle: idle / MS_PER_SECOND };
    },
  };
}
