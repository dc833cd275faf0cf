import { describe, expect, it } from '@jest/globals';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { AgentGateway, type ListRunsOptions } from '../../packages/client/src/index.ts';
import { startCatalog } from '../support/catalog.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { API_KEY, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
/** What Restate says of the states of agents that fail. */
const FAILURE = JSON.stringify({ since: at(3), tries: 2, error: 'Error: 401', isFinal: true });

const history = forAllTests(() => startHistory());
const catalog = forAllTests(() => startCatalog({ port: 0, databasePath: ':memory:' }));
const runtime = forAllTests(() =>
  startScriptedUpstream((_, response, body) => {
    const isStates = body.toString().includes('FROM state');
    const failing = { service_name: 'shop', service_key: 'broken', value_utf8: FAILURE };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ rows: isStates ? [failing] : [] }));
  }),
);
const gateway = forAllTests(async () => {
  const started = await startTestGateway({
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
    GATEWAY_RUNTIME_ADMIN_URL: runtime.url,
  });
  const said = (minute: number, text: string) =>
    ({ at: at(minute), kind: 'message', content: [{ type: 'text', text }] }) as const;
  const reply = (minute: number, replyTo: number) =>
    ({ at: at(minute), kind: 'reply', replyTo, content: [] }) as const;
  await timelineOf('shop/well', 'idle', [said(1, 'one'), reply(2, 0), said(8, 'two'), reply(9, 2)]);
  await timelineOf('shop/broken', 'failed', [
    said(3, 'three'),
    { at: at(4), kind: 'error', replyTo: 0, message: 'the agent failed' },
  ]);
  const call = { replyTo: 0, id: 'c1', name: 'pay', state: 'waiting', input: { sum: 3 } };
  await timelineOf('clerk/asks', 'waiting', [
    said(5, 'four'),
    { at: at(6), kind: 'tool', ...call },
  ]);
  await timelineOf('clerk/new', 'idle', undefined);
  return started;
});

async function timelineOf(
  agent: string,
  status: string,
  events: readonly object[] | undefined,
): Promise<void> {
  const [type = '', id = ''] = agent.split('/');
  const url = `/t/default/a/${agent}`;
  const updated_at = String((events?.at(-1) as { at?: string } | undefined)?.at ?? at(0));
  await putEntity(catalog, entity(id, { url, type, status, tenant: 'default', updated_at }));
  if (!events) return;
  const stream = `${history.url}/t/default/agents/${agent}/timeline`;
  const headers = { 'content-type': 'application/json' };
  await fetch(stream, { method: 'PUT', headers });
  const body = JSON.stringify(events.map((event, seq) => ({ seq, ...event })));
  const { status: answered } = await fetch(stream, { method: 'POST', headers, body });
  expect(answered).toBeLessThan(300);
}

const list = (options: ListRunsOptions = {}) =>
  new AgentGateway({ url: gateway.url, apiKey: API_KEY }).runs.list(options);
const told = async (options: ListRunsOptions = {}) => {
  const { runs } = await list(options);
  return runs.map(({ agent, state, message }) => `${agent} ${state}: ${message}`);
};

describe('the runs of all agents', () => {
  it('have those first that failed, with the error that Restate knows, then the newest', async () => {
    const { runs, ...rest } = await list();
    expect(
      runs.map(({ agent, message, state, detail }) => [agent, message, state, detail]),
    ).toEqual([
      ['shop/broken', 'three', 'failed', 'Error: 401'],
      ['shop/well', 'two', 'done', undefined],
      ['clerk/asks', 'four', 'asking', undefined],
      ['shop/well', 'one', 'done', undefined],
    ]);
    expect(rest).toEqual({ found: 4, agentsLeftOut: 0, problems: [] });
  });

  it.each<[string, ListRunsOptions, string[]]>([
    ['an agent', { agent: 'clerk/asks' }, ['clerk/asks asking: four']],
    ['an agent without a timeline', { agent: 'clerk/new' }, []],
    ['a type', { type: 'clerk' }, ['clerk/asks asking: four']],
    ['a state', { state: 'failed' }, ['shop/broken failed: three']],
    ['a begin', { since: at(7) }, ['shop/well done: two', 'clerk/asks asking: four']],
    ['an end', { until: new Date(at(1)) }, ['shop/well done: one']],
    ['a number', { limit: 1 }, ['shop/broken failed: three']],
  ])('are those of %s', async (_, options, expected) => {
    expect(await told(options)).toEqual(expected);
  });

  it('say how many agents were not read, the healthy ones first', async () => {
    const { runs, agentsLeftOut } = await list({ maxAgents: 2 });
    expect(runs.map(({ agent }) => agent)).toEqual(['shop/broken', 'clerk/asks']);
    expect(agentsLeftOut).toBe(2);
  });

  it('refuse a limit that is none and a time that is none', async () => {
    await expect(list({ limit: 0 })).rejects.toThrow('limit must be 1 or more.');
    await expect(list({ since: 'soon' })).rejects.toThrow('since must be a time.');
  });
});

it('lists runs without Restate, and says that it could not be asked', async () => {
  const without = await startTestGateway({
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
  });
  const { runs } = new AgentGateway({ url: without.url, apiKey: API_KEY, retryForMs: 0 });
  const { found, problems } = await runs.list();
  await without.stop();
  expect(found).toBe(4);
  expect(problems).toEqual([{ error: expect.objectContaining({ status: 502 }) }]);
});
