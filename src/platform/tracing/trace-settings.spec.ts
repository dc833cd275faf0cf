import { readFile as readFileText } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { traceConfig, type TraceConfig } from './trace-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
const PAIRS = 'must be name=value, or several of them between commas, percent-encoded';
const FILES: Record<string, string> = { '/tls/ca.pem': 'the CA' };

function read(variables: Record<string, string>): {
  config: TraceConfig | undefined;
  problems: string[];
} {
  const problems: string[] = [];
  const config = traceConfig(variables, readFile, problems);
  return { config, problems };
}

function readFile(path: string): string {
  const content = FILES[path];
  if (content === undefined) throw Object.assign(new Error(), { code: 'ENOENT' });
  return content;
}

/** What these variables change of the defaults. */
function changes(variables: Record<string, string>): Partial<TraceConfig> {
  const { config, problems } = read({ ...ENDPOINT, ...variables });
  expect(problems).toEqual([]);
  const byDefault = read(ENDPOINT).config;
  return Object.fromEntries(
    Object.entries(config ?? {}).filter(
      ([name, value]) =>
        JSON.stringify(value) !== JSON.stringify(byDefault?.[name as keyof TraceConfig]),
    ),
  );
}

function problemsOf(variables: Record<string, string>): string[] {
  return read({ ...ENDPOINT, ...variables }).problems;
}

describe('traceConfig', () => {
  it('reads what docs/settings.md lists, and nothing else', async () => {
    const document = await readFileText(
      join(import.meta.dirname, '../../../docs/settings.md'),
      'utf8',
    );
    const rows = document.split('\n').filter((row) => row.startsWith('| `OTEL_'));
    const documented = rows.flatMap((row) => (row.split('|')[1] ?? '').match(/OTEL_\w+/g) ?? []);

    const looked = new Set<string>();
    const variables = new Proxy<Record<string, string>>(
      { ...ENDPOINT },
      { get: (target, name: string) => (looked.add(name), target[name]) },
    );
    traceConfig(variables, readFile, []);
    const ofAllSignals = [...looked].filter(
      (name) => !looked.has(name.replace('_TRACES_', '_')) || !name.includes('OTLP_TRACES_'),
    );
    expect([...ofAllSignals, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].sort()).toEqual(
      documented.sort(),
    );
  });

  it('makes no spans where no endpoint is named, whatever else is', () => {
    const others = { OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(read(others)).toEqual({ config: undefined, problems: [] });
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toEqual({ config: undefined, problems: [] });
  });

  it('makes no spans where the SDK is disabled or the exporter is none', () => {
    for (const [name, value] of [
      ['OTEL_SDK_DISABLED', 'true'],
      ['OTEL_SDK_DISABLED', 'TRUE'],
      ['OTEL_TRACES_EXPORTER', 'none'],
    ] as const) {
      expect(read({ ...ENDPOINT, [name]: value })).toEqual({ config: undefined, problems: [] });
    }
    expect(changes({ OTEL_SDK_DISABLED: 'false' })).toEqual({});
  });

  it('has the defaults of the specification', () => {
    expect(read(ENDPOINT)).toEqual({
      config: {
        collector: {
          url: 'http://collector:4318/v1/traces',
          headers: {},
          timeoutMillis: 10_000,
          compression: 'none',
        },
        tls: { ca: undefined, cert: undefined, key: undefined },
        resourceAttributes: {},
        sampler: 'parentbased_always_on',
        samplerRatio: 1,
        batch: { scheduledDelayMillis: 5_000, maxQueueSize: 2_048, maxExportBatchSize: 512 },
      },
      problems: [],
    });
  });

  it('adds the path of traces to the endpoint of all signals, not to that of traces', () => {
    const urlOf = (variables: Record<string, string>) => read(variables).config?.collector.url;
    expect(urlOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otlp/' })).toBe(
      'https://c/otlp/v1/traces',
    );
    const ofTraces = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/in/' };
    expect(urlOf({ ...ENDPOINT, ...ofTraces })).toBe('https://c/in/');
    expect(urlOf(ofTraces)).toBe('https://c/in/');
  });

  it('takes the variable of traces before that of all signals', () => {
    expect(
      changes({
        OTEL_EXPORTER_OTLP_TIMEOUT: '1',
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_HEADERS: 'b=1',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=2',
      }),
    ).toMatchObject({
      collector: { timeoutMillis: 2, compression: 'gzip', headers: { b: '2' } },
    });
    expect(
      problemsOf({ OTEL_EXPORTER_OTLP_TIMEOUT: '1', OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '0' }),
    ).toEqual(['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT must be a whole number from 1 to 999999999']);
  });

  it('decodes headers and resource attributes', () => {
    expect(
      changes({
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20dTpw==, x-a = a%2Cb ,',
        OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=pod-1,team/owner=caf%C3%A9',
        OTEL_SERVICE_NAME: ' gateway ',
      }),
    ).toMatchObject({
      collector: { headers: { authorization: 'Basic dTpw==', 'x-a': 'a,b' } },
      resourceAttributes: {
        'k8s.pod.name': 'pod-1',
        'team/owner': 'café',
        'service.name': 'gateway',
      },
    });
  });

  it('takes samplers, batches and certificates', () => {
    expect(
      changes({
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '.25',
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_BSP_MAX_QUEUE_SIZE: '20',
        OTEL_EXPORTER_OTLP_CERTIFICATE: '/tls/ca.pem',
      }),
    ).toEqual({
      sampler: 'parentbased_traceidratio',
      samplerRatio: 0.25,
      batch: { scheduledDelayMillis: 100, maxQueueSize: 20, maxExportBatchSize: 20 },
      tls: { ca: 'the CA' },
    });
  });

  it.each([
    ['0', 0],
    ['0.5', 0.5],
    ['1', 1],
    // As Helm writes a small number.
    ['1e-05', 0.00001],
  ])('takes the ratio %s', (text, samplerRatio) => {
    expect(read({ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: text })).toMatchObject({
      config: { samplerRatio },
      problems: [],
    });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:hidden@collector'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://collector/v1/traces?key=hidden'],
  ])('refuses a bad %s without repeating it: %s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([
      `${name} must be an http or https URL without user name, query or fragment, such as ` +
        'http://collector:4318; a credential goes into OTEL_EXPORTER_OTLP_HEADERS',
    ]);
  });

  it.each([
    [
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'grpc',
      'must be http/protobuf, which collectors take on port 4318',
    ],
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be one of otlp, none'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'br', 'must be one of none, gzip'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', 'must be a whole number from 1 to 999999999'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', 'must be a whole number from 1 to 999999999'],
    [
      'OTEL_TRACES_SAMPLER',
      'jaeger_remote',
      'must be one of always_on, always_off, traceidratio, parentbased_always_on, ' +
        'parentbased_always_off, parentbased_traceidratio',
    ],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1', 'must be a number from 0 to 1'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half', 'must be a number from 0 to 1'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '-1', 'must be a whole number from 1 to 999999999'],
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/nowhere', 'must be a readable file (ENOENT)'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,hidden', PAIRS],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'b d=hidden', PAIRS],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%e4', PAIRS],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%E2%82%AC', PAIRS],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=x%0Ab', PAIRS],
    ['OTEL_RESOURCE_ATTRIBUTES', '=x', PAIRS],
  ])('refuses %s=%s', (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toEqual([`${name} ${problem}`]);
  });
});
