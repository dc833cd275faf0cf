import type { LookupFunction } from 'node:net';
import type { Logger } from 'pino';
import type { TraceConfig } from './trace-settings.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { OpenTelemetryTracing } from './open-telemetry/open-telemetry-tracing.ts';

/** Makes spans of every request, if the settings name a collector. Only then is OpenTelemetry's SDK loaded. */
export async function startTracing(
  traces: TraceConfig | undefined,
  tenant: string,
  telemetry: Telemetry,
  logger: Logger,
  lookup: LookupFunction,
): Promise<OpenTelemetryTracing | undefined> {
  if (!traces) return undefined;
  const { OpenTelemetryTracing } = await import('./open-telemetry/open-telemetry-tracing.ts');
  return new OpenTelemetryTracing(traces, tenant, telemetry, logger, lookup);
}
