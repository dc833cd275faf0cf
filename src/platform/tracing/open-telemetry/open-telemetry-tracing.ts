import { randomUUID } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { within } from '../../clock/within.ts';
import { gatewayVersion } from '../../config/version.ts';
import type { TraceConfig } from '../trace-settings.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { ExportLog } from './export-log.ts';
import { RequestSpans } from './request-spans.ts';

type ExporterOptions = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

/** `ExportResultCode.SUCCESS` of `@opentelemetry/core`. */
const SUCCESS = 0;
const FIXED_RATIOS: Record<string, number> = { always_on: 1, always_off: 0 };

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
    const { collector, tls, batch } = traces;
    const exporter = new OTLPTraceExporter({
      ...collector,
      compression: collector.compression as ExporterOptions['compression'],
      // The exporter ignores the certificates for a plain http address.
      httpAgentOptions: { keepAlive: true, lookup, ...tls },
    });
    this.provider = new TracerProvider({
      resource: gatewayResource(tenant, traces),
      sampler: samplerOf(traces),
      spanProcessors: [
        new BatchSpanProcessor({ exporter: watched(exporter, exportLog), ...batch }),
      ],
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

/** The resource of the spans: this copy of the gateway, and what the settings add. */
function gatewayResource(tenant: string, { resourceAttributes }: TraceConfig): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': 'agent-gateway',
      'service.version': gatewayVersion(),
      'service.instance.id': randomUUID(),
      'gateway.tenant': tenant,
      ...resourceAttributes,
    }),
  );
}

/** All and none of the traces are ratios, too. */
function samplerOf({ sampler, samplerRatio }: TraceConfig): Sampler {
  const ratio = FIXED_RATIOS[sampler.replace('parentbased_', '')] ?? samplerRatio;
  const root = new TraceIdRatioBasedSampler(ratio);
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

/** Counts the spans that could not be sent. The processor only reports that something failed. */
function watched(exporter: SpanExporter, log: ExportLog): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== SUCCESS) log.lost(spans.length, result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
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
