import { Gauge, type Registry } from 'prom-client';
import { gatewayVersion } from '../config/version.ts';
import { CommandMetrics } from './command-metrics.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { RefusalMetrics } from './refusal-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import type { Telemetry } from './telemetry.ts';
import { UpstreamMetrics } from './upstream-metrics.ts';

/** The metrics of requests, of upstream requests, and of the process. */
export function addMetrics({ registry, requests, upstreamCalls }: Telemetry): RequestMetrics {
  const requestMetrics = new RequestMetrics(registry);
  requests.push(requestMetrics, new RefusalMetrics(registry), new CommandMetrics(registry));
  upstreamCalls.observe(new UpstreamMetrics(registry));
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
