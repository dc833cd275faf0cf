import { IsIn } from 'class-validator';
import { BaseUrl } from '../config/http-url.decorator.ts';
import { Setting, settingsFrom, WholeNumber, type Variables } from '../config/setting.decorator.ts';
import { namedFile, type ReadFile } from '../config/small-file.ts';
import { uriDecoded } from '../http/request-path.ts';

const MAX_NUMBER = 999_999_999;
/** The spans of one batch, as in OpenTelemetry's specification. */
const MAX_BATCH_SIZE = 512;
const COMPRESSIONS = ['none', 'gzip'] as const;
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const EXPORTERS = ['otlp', 'none'];
/** White space around names and values is no part of them. */
const PAIR = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/s;

/** OpenTelemetry's variables, with the defaults of its specification. */
class TraceEnvironment {
  @BaseUrl('http://collector:4318; a credential goes into OTEL_EXPORTER_OTLP_HEADERS')
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @IsIn(['http/protobuf'], {
    message: 'must be http/protobuf, which collectors take on port 4318',
  })
  OTEL_EXPORTER_OTLP_PROTOCOL = 'http/protobuf';

  /** RFC 9110 §5.6.2 and §5.5. Node would refuse other headers at every export. */
  @Pairs(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, /^[\t\x20-\x7e\x80-\xff]*$/)
  OTEL_EXPORTER_OTLP_HEADERS: Record<string, string> = {};

  @WholeNumber(1, MAX_NUMBER)
  OTEL_EXPORTER_OTLP_TIMEOUT = 10_000;

  @IsIn(COMPRESSIONS, { message: `must be one of ${COMPRESSIONS.join(', ')}` })
  OTEL_EXPORTER_OTLP_COMPRESSION: (typeof COMPRESSIONS)[number] = 'none';

  OTEL_EXPORTER_OTLP_CERTIFICATE?: string;
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE?: string;
  OTEL_EXPORTER_OTLP_CLIENT_KEY?: string;

  OTEL_SERVICE_NAME?: string;

  @Pairs(/^[\x21-\x7e]+$/, /^\P{Cc}*$/u)
  OTEL_RESOURCE_ATTRIBUTES: Record<string, string> = {};

  @IsIn(SAMPLERS, { message: `must be one of ${SAMPLERS.join(', ')}` })
  OTEL_TRACES_SAMPLER: (typeof SAMPLERS)[number] = 'parentbased_always_on';

  @Setting('must be a number from 0 to 1', (text) => {
    const ratio = /^\d*\.?\d+(?:e-?\d{1,3})?$/i.test(text) ? Number(text) : Number.NaN;
    return ratio <= 1 ? ratio : undefined;
  })
  OTEL_TRACES_SAMPLER_ARG = 1;

  @WholeNumber(1, MAX_NUMBER)
  OTEL_BSP_SCHEDULE_DELAY = 5_000;

  @WholeNumber(1, MAX_NUMBER)
  OTEL_BSP_MAX_QUEUE_SIZE = 2_048;

  @IsIn(EXPORTERS, { message: `must be one of ${EXPORTERS.join(', ')}` })
  OTEL_TRACES_EXPORTER = 'otlp';
}

type FileSetting = `OTEL_EXPORTER_OTLP_${'CERTIFICATE' | 'CLIENT_CERTIFICATE' | 'CLIENT_KEY'}`;

/** Where spans are sent, which ones are made, and how they are batched, in the words of the SDK. */
export type TraceConfig = NonNullable<ReturnType<typeof traceConfig>>;

/**
 * The tracing settings from OpenTelemetry's standard variables. Undefined if they name no endpoint or turn the SDK
 * off. The gateway does not ignore wrong ones, but adds them to the problems.
 */
export function traceConfig(variables: Variables, readFile: ReadFile, problems: string[]) {
  /** Empty counts as unset. */
  const textOf = (name: string): string | undefined => variables[name]?.trim() || undefined;
  /** The variable that applies: the one for traces, or else the one for all signals. */
  const nameOf = (setting: string): string => {
    const ofTraces = setting.replace('_OTLP_', '_OTLP_TRACES_');
    return textOf(ofTraces) === undefined ? setting : ofTraces;
  };
  const endpoint = textOf(nameOf('OTEL_EXPORTER_OTLP_ENDPOINT'));
  const isOff =
    textOf('OTEL_TRACES_EXPORTER') === 'none' ||
    textOf('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (endpoint === undefined || isOff) return undefined;
  const refuse = (setting: string, problem: string): void => {
    problems.push(`${nameOf(setting)} ${problem}`);
  };
  const env = settingsFrom(TraceEnvironment, (setting) => textOf(nameOf(setting)), refuse);
  const file = (setting: FileSetting): string | undefined =>
    namedFile(env[setting], readFile, (problem) => refuse(setting, problem));
  const resourceAttributes = { ...env.OTEL_RESOURCE_ATTRIBUTES };
  if (env.OTEL_SERVICE_NAME) resourceAttributes['service.name'] = env.OTEL_SERVICE_NAME;
  return {
    collector: {
      /** The endpoint of all signals gets the path of traces. An endpoint for traces is used unchanged. */
      url:
        textOf('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ??
        `${env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
      headers: env.OTEL_EXPORTER_OTLP_HEADERS,
      timeoutMillis: env.OTEL_EXPORTER_OTLP_TIMEOUT,
      compression: env.OTEL_EXPORTER_OTLP_COMPRESSION,
    },
    /** PEM. Undefined if Node's own certificates are used or no client certificate is needed. */
    tls: {
      ca: file('OTEL_EXPORTER_OTLP_CERTIFICATE'),
      cert: file('OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE'),
      key: file('OTEL_EXPORTER_OTLP_CLIENT_KEY'),
    },
    resourceAttributes,
    sampler: env.OTEL_TRACES_SAMPLER,
    /** The share of new traces that the ratio samplers record, from 0 to 1. */
    samplerRatio: env.OTEL_TRACES_SAMPLER_ARG,
    batch: {
      scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
      /** The most spans that wait to be sent. Further ones are dropped. */
      maxQueueSize: env.OTEL_BSP_MAX_QUEUE_SIZE,
      maxExportBatchSize: Math.min(env.OTEL_BSP_MAX_QUEUE_SIZE, MAX_BATCH_SIZE),
    },
  };
}

/** `name=value,name=value`, percent-encoded. */
function Pairs(nameForm: RegExp, valueForm: RegExp): PropertyDecorator {
  return Setting(
    'must be name=value, or several of them between commas, percent-encoded',
    (text) => {
      const pairs: Record<string, string> = {};
      for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
        const [, name = '', value] = PAIR.exec(pair)?.map((part) => uriDecoded(part)) ?? [];
        if (value === undefined || !nameForm.test(name) || !valueForm.test(value)) return undefined;
        pairs[name] = value;
      }
      return pairs;
    },
  );
}
