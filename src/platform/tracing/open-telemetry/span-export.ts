import type { LookupFunction } from 'node:net';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { TraceConfig } from '../trace-config.ts';
import type { ExportLog } from './export-log.ts';

type ExporterOptions = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

/** `ExportResultCode.SUCCESS` of `@opentelemetry/core`. */
const SUCCESS = 0;

/** Collects spans in a bounded queue and posts them to the collector in batches. */
export function spanExport(
  config: TraceConfig,
  log: ExportLog,
  lookup: LookupFunction,
): BatchSpanProcessor {
  const exporter = new OTLPTraceExporter({
    url: config.url,
    headers: config.headers,
    timeoutMillis: config.timeoutMs,
    compression: config.compression as ExporterOptions['compression'],
    // The exporter ignores the certificates for a plain http address.
    httpAgentOptions: { keepAlive: true, lookup, ...config.tls },
  });
  return new BatchSpanProcessor({
    exporter: watched(exporter, log),
    scheduledDelayMillis: config.batch.delayMs,
    exportTimeoutMillis: config.batch.exportTimeoutMs,
    maxQueueSize: config.batch.maxQueueSize,
    maxExportBatchSize: config.batch.maxExportBatchSize,
  });
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
