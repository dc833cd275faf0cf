import { context, trace, type Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defineAgent, type Generation } from '../../packages/client/src/agent/index.ts';
import { AgentGateway } from '../../packages/client/src/index.ts';
import { tracedFetch } from '../../packages/client/src/opentelemetry/index.ts';
import { Collector } from '../support/collector.ts';
import type { ExportedSpan } from '../support/exported-spans.ts';
import { API_KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { registerAgents, restateUrls, type RegisteredAgents } from '../support/restate.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const TYPE = 'traced-agent';

let collector: Collector;
let history: RunningHistory;
let gateway: TestGateway;
/** Takes the rows of the catalog. */
let rows: ScriptedUpstream;
const rowTraces: string[] = [];
const fourRows = Promise.withResolvers<void>();
let agents: RegisteredAgents;
let client: AgentGateway;
const provider = new TracerProvider({});

beforeAll(async () => {
  // As an application sets OpenTelemetry up, for its whole process.
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  collector = await Collector.start();
  history = await startHistory({ longPollTimeoutMs: 1_000 });
  rows = await startScriptedUpstream((request, response) => {
    rowTraces.push(String(request.headers.traceparent));
    // The mother is born, runs and is idle; the daughter is born.
    if (rowTraces.length === 4) fourRows.resolve();
    response.end();
  });
  gateway = await startTestGateway({
    GATEWAY_RUNTIME_INGRESS_URL: restateUrls().ingressUrl,
    GATEWAY_RUNTIME_ADMIN_URL: restateUrls().adminUrl,
    GATEWAY_HISTORY_URL: history.url,
    ...collector.environment,
  });
  const access = { gatewayUrl: gateway.url, apiKey: API_KEY, catalogUrl: rows.url };
  agents = await registerAgents(defineAgent({ name: TYPE, generate, ...access }).services);
  client = new AgentGateway({ url: gateway.url, apiKey: API_KEY, fetch: tracedFetch() });
});
afterAll(async () => {
  await agents?.stop();
  await gateway?.stop();
  await rows?.stop();
  await history?.stop();
  await collector?.stop();
  await provider.shutdown();
  context.disable();
  trace.disable();
});

async function* generate({ message, written }: Generation) {
  const [verb = '', id = ''] = message.text.split(' ');
  if (verb === 'spawn' && written.length === 0) yield { tool: 'spawn', input: { type: TYPE, id } };
  else yield 'done';
}

/** Runs in an active span of the application. */
async function inSpan<T>(name: string, run: () => Promise<T>): Promise<readonly [Span, T]> {
  return trace.getTracer('application').startActiveSpan(name, async (span) => {
    const result = await run();
    span.end();
    return [span, result] as const;
  });
}

/** The server spans of the requests with this method and path. */
const served =
  (method: string, path: string) =>
  ({ kind, attributes }: ExportedSpan): boolean =>
    kind === 'server' &&
    attributes['http.request.method'] === method &&
    attributes['url.path'] === path;

const timelineOf = (id: string): string => `/streams/t/default/agents/${TYPE}/${id}/timeline`;

/** The command, and the call of the runtime below it. */
async function commandAt(path: string): Promise<{ command: ExportedSpan; call: ExportedSpan }> {
  const [command] = await collector.until(1, served('POST', path));
  const [call] = await collector.until(1, ({ parentSpanId }) => parentSpanId === command?.spanId);
  if (!command || !call) throw new Error(`${path} has no spans`);
  return { command, call };
}

describe('one trace', () => {
  it('reaches from a span of the application to the appends of the agent, and of its child', async () => {
    const [span, text] = await inSpan('answer a user', () =>
      client.agents.ask(`${TYPE}/mother`, 'spawn daughter').text(),
    );
    expect(text).toBe('done');
    const { traceId, spanId } = span.spanContext();

    const { command, call } = await commandAt(`/api/a/${TYPE}/mother/send`);
    expect(command).toMatchObject({ traceId, parentSpanId: spanId });
    expect(call).toMatchObject({ traceId, attributes: { 'peer.service': 'runtime-ingress' } });

    // Spawned, message, tool called, tool done, word, reply.
    const appends = await collector.until(6, served('POST', timelineOf('mother')));
    const spawns = await collector.until(1, served('POST', '/api/spawn'));
    for (const each of [...appends, ...spawns]) {
      expect(each).toMatchObject({ traceId, parentSpanId: call.spanId });
    }
    const born = await commandAt('/api/spawn');
    const ofChild = await collector.until(1, served('POST', timelineOf('daughter')));
    expect(ofChild).toMatchObject([{ traceId, parentSpanId: born.call.spanId }]);

    // And the rows, which the agents send through the runtime.
    await fourRows.promise;
    const parents = [call.spanId, call.spanId, call.spanId, born.call.spanId];
    const wanted = parents.map((parent) => `00-${traceId}-${parent}-01`);
    expect(rowTraces.toSorted()).toEqual(wanted.toSorted());
  });

  it('has the reads of the application', async () => {
    const [span] = await inSpan('look', async () => {
      for await (const _ of client.timeline(`${TYPE}/mother`, { live: false }));
    });
    const { traceId, spanId } = span.spanContext();
    const reads = await collector.until(
      1,
      (each) => served('GET', timelineOf('mother'))(each) && each.traceId === traceId,
    );
    expect(reads[0]).toMatchObject({ parentSpanId: spanId });
  });
});
