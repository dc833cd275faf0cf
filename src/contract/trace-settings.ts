import { SAMPLERS, type TraceConfig } from '../platform/tracing/trace-config.ts';
import { isBaseUrl } from './http-url.decorator.ts';
import { OtelVariables } from './otel-variables.ts';
import type { ReadFile, Variables } from './variables.ts';

/**
 * The tracing settings from OpenTelemetry's standard variables. Undefined if they name no endpoint or turn the SDK
 * off. The gateway does not ignore wrong ones, but adds them to the problems.
 */
export function traceConfig(
  variables: Variables,
  readFile: ReadFile,
  problems: string[],
): TraceConfig | undefined {
  const otel = new OtelVariables(variables, readFile, problems);
  const url = tracesUrl(otel);
  const exporter = otel.choice('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp');
  const isDisabled = variables.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true';
  if (url === undefined || exporter === 'none' || isDisabled) return undefined;
  checkProtocol(otel);
  const batch = {
    delayMs: otel.wholeNumber('OTEL_BSP_SCHEDULE_DELAY', 5_000, 1),
    exportTimeoutMs: otel.wholeNumber('OTEL_BSP_EXPORT_TIMEOUT', 30_000, 1),
    maxQueueSize: otel.wholeNumber('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1),
    maxExportBatchSize: otel.wholeNumber('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1),
  };
  if (batch.maxExportBatchSize > batch.maxQueueSize) {
    problems.push('OTEL_BSP_MAX_EXPORT_BATCH_SIZE must not be above OTEL_BSP_MAX_QUEUE_SIZE');
  }
  return {
    url,
    headers: {
      ...otel.headers('OTEL_EXPORTER_OTLP_HEADERS'),
      ...otel.headers('OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    timeoutMs: otel.wholeNumber(otel.otlpName('TIMEOUT'), 10_000, 1),
    compression: otel.choice(otel.otlpName('COMPRESSION'), ['none', 'gzip'], 'none'),
    tls: {
      ca: otel.file(otel.otlpName('CERTIFICATE')),
      cert: otel.file(otel.otlpName('CLIENT_CERTIFICATE')),
      key: otel.file(otel.otlpName('CLIENT_KEY')),
    },
    serviceName: otel.text('OTEL_SERVICE_NAME'),
    resourceAttributes: otel.attributes('OTEL_RESOURCE_ATTRIBUTES'),
    sampler: otel.choice('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on'),
    samplerRatio: otel.ratio('OTEL_TRACES_SAMPLER_ARG', 1),
    batch,
  };
}

/** The endpoint of all signals gets the path of traces. An endpoint for traces is used unchanged. */
function tracesUrl(otel: OtelVariables): string | undefined {
  const name = otel.otlpName('ENDPOINT');
  const url = otel.text(name);
  if (url === undefined) return undefined;
  if (!isBaseUrl(url)) {
    otel.refuse(
      name,
      'must be an http or https URL without user name, query or fragment, such as ' +
        'http://collector:4318; a credential goes into OTEL_EXPORTER_OTLP_HEADERS',
    );
  }
  return name === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? `${url.replace(/\/+$/, '')}/v1/traces` : url;
}

function checkProtocol(otel: OtelVariables): void {
  const name = otel.otlpName('PROTOCOL');
  if ((otel.text(name) ?? 'http/protobuf') !== 'http/protobuf') {
    otel.refuse(name, 'must be http/protobuf, which collectors take on port 4318');
  }
}
