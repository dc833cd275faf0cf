import type { LookupFunction } from 'node:net';
import type { Logger } from 'pino';
import type { GatewayConfig } from '../config/gateway-config.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { OpenTelemetryTracing } from './open-telemetry/open-telemetry-tracing.ts';

/**
 * Makes spans of every request and every upstream request, if the settings name a collector. Only then is
 * OpenTelemetry's SDK loaded.
 */
export async function startTracing(
  config: GatewayConfig,
  telemetry: Telemetry,
  logger: Logger,
  lookup: LookupFunction,
): Promise<OpenTelemetryTracing | undefined> {
  if (!config.traces) return undefined;
  const { OpenTelemetryTracing } = await import('./open-telemetry/open-telemetry-tracing.ts');
  return new OpenTelemetryTracing(config, config.traces, telemetry, logger, lookup);
}
