import type { Logger } from 'pino';
import type { GatewayConfig } from '../config/gateway-config.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** The spans of a gateway, on their way to a collector. */
export interface Tracing {
  /** Sends what has ended and makes no more. Resolves after `timeoutMs` at the latest; never rejects. */
  shutdown(timeoutMs: number): Promise<void>;
}

/**
 * Has spans made of every request and every call to an upstream, where the settings name a collector.
 * Only then is OpenTelemetry's SDK loaded.
 */
export async function startTracing(
  config: GatewayConfig,
  telemetry: Telemetry,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!config.traces) return undefined;
  const { OpenTelemetryTracing } = await import('./open-telemetry/open-telemetry-tracing.ts');
  return new OpenTelemetryTracing(config, config.traces, telemetry, logger);
}
