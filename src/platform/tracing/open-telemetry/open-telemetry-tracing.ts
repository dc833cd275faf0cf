import type { LookupFunction } from 'node:net';
import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { within } from '../../clock/within.ts';
import type { TraceConfig } from '../trace-config.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
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
  /** For spans of what a request does. */
  readonly tracer: Tracer;
  private readonly provider: TracerProvider;

  constructor(
    traces: TraceConfig,
    tenant: string,
    telemetry: Telemetry,
    logger: Logger,
    lookup: LookupFunction,
  ) {
    const exportLog = new ExportLog(logger);
    listenToSdk(exportLog);
    this.provider = new TracerProvider({
      resource: gatewayResource(tenant, traces),
      sampler: samplerOf(traces),
      spanProcessors: [spanExport(traces, exportLog, lookup)],
    });
    this.tracer = this.provider.getTracer('agent-gateway');
    // Tracing comes first, because the log may need the trace of a request.
    telemetry.requests.unshift(new RequestSpans(this.tracer));
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
