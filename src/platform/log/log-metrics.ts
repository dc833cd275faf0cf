import type { StateMetric } from '../metrics/state-metric.ts';
import type { LogCounts } from './log-output.ts';

/** The state of the log's output. */
export function logMetrics(log: LogCounts): readonly StateMetric[] {
  return [
    {
      name: 'gateway_log_lines_dropped_total',
      help: 'Log lines that were dropped because standard output did not take those before them.',
      isCounter: true,
      read: () => log.droppedLines,
    },
    {
      name: 'gateway_log_waiting_bytes',
      help: 'Bytes of log lines that standard output has not taken yet; beyond 4 MiB lines are dropped.',
      read: () => log.waitingBytes,
    },
  ];
}
