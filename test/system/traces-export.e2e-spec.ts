import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { GATEWAY_MAIN, startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { Collector } from '../support/collector.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { canRecordModules, recordModules } from '../support/recorded-modules.ts';
import { logOf } from '../support/scripted-gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { SECRET, secretsIn, secretSettings, sendSecrets } from '../support/secrets.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

const newCollector = async (): Promise<Collector> => forThisTest(await Collector.start());

async function newGateway(env: Record<string, string>): Promise<TestGateway> {
  const gateway = await startTestGateway(env);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= gateway.stop());
  return forThisTest({ ...gateway, stop });
}

async function health(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/health`, { headers: { 'x-request-id': id } });
  await response.text();
  expect(response.status).toBe(200);
}

const idsOf = ({ spans }: Collector) =>
  spans.map(({ attributes }) => attributes['gateway.request.id']);

describe('the export of spans', () => {
  it('goes to the collector as the settings say', async () => {
    const collector = await newCollector();
    const gateway = await newGateway({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20for-the-collector',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'front-door',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=pod-1,service.name=another',
      OTEL_BSP_SCHEDULE_DELAY: '1',
    });
    await health(gateway.url, 'r1');
    const [first] = await collector.untilExports(1);
    expect(first).toMatchObject({
      path: '/otlp/v1/traces',
      headers: {
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
        authorization: 'Bearer for-the-collector',
      },
    });
    expect(collector.spans[0]?.resource).toMatchObject({
      'service.name': 'front-door',
      'k8s.pod.name': 'pod-1',
    });
  });

  it('has all spans when the gateway has stopped', async () => {
    const collector = await newCollector();
    const gateway = await newGateway({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    });
    for (const id of ['r1', 'r2', 'r3']) await health(gateway.url, id);
    expect(collector.exports).toEqual([]);
    await gateway.stop();
    expect(idsOf(collector)).toEqual(['r1', 'r2', 'r3']);
  });

  it.each([
    ['parentbased_always_on', '1', undefined, '01'],
    ['parentbased_always_on', '1', '00', '00'],
    ['parentbased_always_off', '1', undefined, '00'],
    ['parentbased_always_off', '1', '01', '01'],
    ['parentbased_traceidratio', '0', undefined, '00'],
    ['parentbased_traceidratio', '0', '01', '01'],
    ['traceidratio', '0', '01', '00'],
    ['traceidratio', '1', '00', '01'],
    ['always_on', '1', '00', '01'],
    ['always_off', '1', '01', '00'],
  ])('by the sampler %s of %s makes of the flags %s those of %s', async (name, arg, came, goes) => {
    const collector = await newCollector();
    const upstream = forThisTest(
      await startScriptedUpstream((_request, response) => response.end()),
    );
    const gateway = await newGateway({
      ...collector.environment,
      GATEWAY_HISTORY_URL: upstream.url,
      OTEL_TRACES_SAMPLER: name,
      OTEL_TRACES_SAMPLER_ARG: arg,
    });
    const traceparent = `00-${TRACE_ID}-${CALLER}-${came}`;
    const headers = { ...AUTHORIZED, ...(came !== undefined && { traceparent }) };
    await (await fetch(`${gateway.url}/streams/x`, { headers })).text();
    await gateway.stop();
    const traceId = came === undefined ? '[0-9a-f]{32}' : TRACE_ID;
    expect(upstream.seen[0]?.headers.traceparent).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-${goes}$`),
    );
    expect(collector.spans.map(({ kind }) => kind).sort()).toEqual(
      goes === '01' ? ['client', 'server'] : [],
    );
  });
});

describe('a secret', () => {
  it('of a client, an upstream or the gateway is in no span, nor in the log', async () => {
    const collector = await newCollector();
    const upstream = forThisTest(
      await startScriptedUpstream((_request, response) => {
        response.writeHead(202, { 'set-cookie': SECRET, 'x-token': SECRET });
        response.end(`{"invocationId":"inv_1","secret":"${SECRET}"}`);
      }),
    );
    const gateway = await newGateway({
      ...secretSettings(upstream.url),
      ...collector.environment,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}`,
      // Each span of a call stands for a request that the upstream saw, so none may run out of time on a busy machine.
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '60000',
    });
    const sent = await sendSecrets(gateway.port);
    await gateway.stop();

    const servers = collector.spans.filter(({ kind }) => kind === 'server');
    // CONNECT has no span, once with each of the five credentials.
    expect(servers).toHaveLength(sent - 5);
    expect(upstream.seen.length).toBeGreaterThan(0);
    expect(collector.spans).toHaveLength(servers.length + upstream.seen.length);
    const exported = collector.exports.map(({ body }) => body.toString('latin1')).join('\n');
    expect(secretsIn(exported)).toEqual([]);
    expect(secretsIn(gateway.logLines.join('\n'))).toEqual([]);
  });

  it('for the collector is not in the log when that refuses it', async () => {
    const collector = await newCollector();
    collector.answer = (response) => response.writeHead(401, SECRET).end(SECRET);
    const gateway = await newGateway({
      ...collector.environment,
      GATEWAY_LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}`,
    });
    await health(gateway.url, 'r1');
    await gateway.stop();
    expect(warnings(gateway)).toMatchObject([
      { message: 'spans could not be sent', status: 401, lostSpans: 1 },
    ]);
    expect(secretsIn(gateway.logLines.join('\n'))).toEqual([]);
  });
});

const warnings = (gateway: TestGateway): unknown[] =>
  logOf(gateway).filter(({ level }) => level === 'warn');

describe('a collector', () => {
  it('that is down fails no request, and is told of in one line', async () => {
    const gateway = await newGateway({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:2',
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_BSP_SCHEDULE_DELAY: '1',
      OTEL_BSP_MAX_QUEUE_SIZE: '1',
    });
    for (let i = 0; i < 20; i++) await health(gateway.url, `r${i}`);
    await gateway.stop();
    expect(warnings(gateway)).toEqual([
      {
        level: 'warn',
        time: expect.any(String),
        service: 'agent-gateway',
        lostSpans: 1,
        err: {
          type: 'Error',
          code: 'ECONNREFUSED',
          message: 'connect ECONNREFUSED 127.0.0.1:2',
          stack: expect.any(String),
        },
        message: 'spans could not be sent',
      },
    ]);
  });

  it('that does not answer holds up no request, and no more spans wait than the queue takes', async () => {
    const collector = await newCollector();
    const unanswered: ServerResponse[] = [];
    collector.answer = (response) => unanswered.push(response);
    const gateway = await newGateway({
      ...collector.environment,
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
    });
    await health(gateway.url, 'first');
    await collector.untilExports(1);
    for (let i = 0; i < 50; i++) await health(gateway.url, `r${i}`);
    expect(idsOf(collector)).toEqual(['first']);

    collector.answer = (response) => response.end();
    for (const response of unanswered) response.end();
    await gateway.stop();
    expect(idsOf(collector)).toEqual(['first', ...Array.from({ length: 10 }, (_, i) => `r${i}`)]);
  });
});

describe('the program', () => {
  async function start(env: Record<string, string>): Promise<GatewayChild> {
    const gateway = await startGatewayChild({ env });
    afterThisTest(() => gateway.kill());
    return gateway;
  }

  /** Whether a gateway that has answered has loaded `file` of the program. */
  async function hasLoaded(file: string, env: Record<string, string>): Promise<boolean> {
    const record = await recordModules();
    afterThisTest(() => record.remove());
    const gateway = await start({ ...record.environment, ...env });
    const traceparent = `00-${TRACE_ID}-${CALLER}-01`;
    const headers = { ...AUTHORIZED, traceparent };
    const response = await fetch(`${gateway.url}/streams/x`, { headers });
    expect(response.status).toBe(502);
    await gateway.kill();
    const loaded = await record.loaded();
    return loaded.some((url) => url.endsWith(`/dist/${file}`));
  }

  /**
   * The files of the program that have modules of OpenTelemetry in them, or of ours that need them. But for the interfaces alone,
   * `api`: prom-client loads those.
   */
  async function filesWithTracing(): Promise<string[]> {
    const folder = dirname(GATEWAY_MAIN);
    const maps = (await readdir(folder)).filter((name) => name.endsWith('.map'));
    const found = await Promise.all(
      maps.map(async (name) => {
        const { sources } = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
          sources: string[];
        };
        const isTracing = (source: string): boolean =>
          /\/@opentelemetry\/(?!api\/)|\/tracing\/open-telemetry\//.test(source);
        return sources.some(isTracing) ? [basename(name, '.map')] : [];
      }),
    );
    return found.flat();
  }

  (canRecordModules ? it : it.skip)(
    'loads nothing of OpenTelemetry’s SDK where no collector is named',
    async () => {
      const [file = '', ...others] = await filesWithTracing();
      expect(others).toEqual([]);
      expect(await hasLoaded(file, {})).toBe(false);
      // Else this could not fail.
      const on = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:2' };
      expect(await hasLoaded(file, on)).toBe(true);
    },
    60_000,
  );

  it('sends its last spans between SIGTERM and its end', async () => {
    const collector = await newCollector();
    const gateway = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      // Enough for a busy machine: connections that are idle are closed after a fifth of it.
      GATEWAY_DRAIN_TIMEOUT_MS: '10000',
    });
    await health(gateway.url, 'r1');
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toMatchObject({ code: 0 });
    expect(idsOf(collector)).toEqual(['r1']);
  });

  it('ends in its time although the collector does not answer', async () => {
    const collector = await newCollector();
    collector.answer = () => undefined;
    const gateway = await start({
      ...collector.environment,
      GATEWAY_DRAIN_TIMEOUT_MS: '1000',
      // Longer than the test may take: only the gateway's own limit ends the wait.
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
    });
    await health(gateway.url, 'r1');
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toMatchObject({ code: 0 });
    expect(gateway.log.at(-1)).toMatchObject({ message: 'the gateway has stopped' });
  });
});
