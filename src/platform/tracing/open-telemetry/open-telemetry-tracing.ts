import type { LookupFunction } from 'node:net';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { within } from '../../clock/within.ts';
import type { GatewayConfig } from '../../config/gateway-config.ts';
import type { TraceConfig } from '../../config/trace-config.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { AppendSpans } from './append-spans.ts';
import { CallSpans } from './call-spans.ts';
import { ExportLog } from './export-log.ts';
import { RequestSpans } from './request-spans.ts';
import { gatewayResource } from './resource.ts';
import { samplerOf } from './sampler.ts';
import { spanExport } from './span-export.ts';

/**
 * Makes spans with OpenTelemetry's SDK, without its global provider and its context manager: the request carries
 * the parent of a span, not the event loop.
 */
export class OpenTelemetryTracing {
  private readonly provider: TracerProvider;

  constructor(
    config: GatewayConfig,
    traces: TraceConfig,
    telemetry: Telemetry,
    logger: Logger,
    lookup: LookupFunction,
  ) {
    const exportLog = new ExportLog(logger);
    listenToSdk(exportLog);
    this.provider = new TracerProvider({
      resource: gatewayResource(config, traces),
      sampler: samplerOf(traces),
      spanProcessors: [spanExport(traces, exportLog, lookup)],
    });
    const tracer = this.provider.getTracer('agent-gateway');
    // Tracing comes first, because the log and the metrics may need the trace of a request.
    const appends = new AppendSpans();
    telemetry.requests.unshift(new RequestSpans(tracer, appends));
    telemetry.upstreamCalls.observe(new CallSpans(tracer, appends, config));
  }

  /** Sends the ended spans and makes no more. Resolves after `timeoutMs` at the latest. Never rejects. */
  async shutdown(timeoutMs: number): Promise<void> {
    // Failed exports have already been logged.
    const flushed = this.provider.shutdown().catch(() => undefined);
    await within(timeoutMs, flushed);
  }
}

/** The SDK has one logger for the whole process. Its exporter logs why a batch failed. */
function listenToSdk(log: ExportLog): void {
  const warn = (message: string): void => log.sdkWarned(message);
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
