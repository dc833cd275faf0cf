import { Gauge, type Registry } from 'prom-client';
import { gatewayVersion } from '../platform/config/version.ts';
import { CommandMetrics } from '../commands/command-metrics.ts';
import { addProcessMetrics } from '../platform/metrics/process-metrics.ts';
import { ProblemMetrics } from './problem-metrics.ts';
import { RequestMetrics } from '../platform/telemetry/request-metrics.ts';
import type { Telemetry } from '../platform/telemetry/telemetry.ts';

/** The metrics of requests, of commands, and of the process. */
export function addMetrics({ registry, requests }: Telemetry): RequestMetrics {
  const requestMetrics = new RequestMetrics(registry);
  requests.push(requestMetrics, new ProblemMetrics(registry), new CommandMetrics(registry));
  addBuildInfo(registry);
  addProcessMetrics(registry);
  return requestMetrics;
}

function addBuildInfo(registry: Registry): void {
  const gauge = new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; its labels say which version this is, of the gateway and of Node.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  });
  gauge.set({ version: gatewayVersion(), node_version: process.versions.node }, 1);
}
