import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { object } from '@restatedev/restate-sdk';
import { startFlakyLink, type FlakyLink } from '../support/flaky-link.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { restateUrls, serveAgents } from '../support/restate.ts';
import { until } from '../support/until.ts';

const LOST = 'The connection to the server behind this route was lost before it answered.';
const LATE = 'The server behind this route did not answer within 1000 ms.';
const OF_POST =
  'The append may have been made. With the same Producer-Id, Producer-Epoch and Producer-Seq it can be ' +
  'repeated safely; without them read the stream before you repeat it.';
const OF_PUT =
  'The stream may have been created. The same PUT can be repeated safely: it creates a stream once.';
const OF_DELETE =
  'The stream may have been deleted. A DELETE can be repeated safely: 404 says that it is gone.';
const OF_CHANGE = 'The change may have been made. Look with GET before you repeat it.';
const PRODUCER = { 'producer-id': 'p', 'producer-epoch': '0', 'producer-seq': '0' };

/**
 * The real servers, behind lines on which their answers are lost: they have made what the client does not
 * hear of. It was told "could not be reached; try again", and a second append was a second event.
 */
describe('a write whose answer is lost', () => {
  let history: RunningHistory;
  let agent: Awaited<ReturnType<typeof serveAgents>>;
  let toHistory: FlakyLink;
  let toAdmin: FlakyLink;
  let gateway: TestGateway;
  let hasty: TestGateway;
  let streams = 0;
  let stream: string;

  beforeAll(async () => {
    history = await startHistory();
    toHistory = await startFlakyLink(Number(new URL(history.url).port));
    toAdmin = await startFlakyLink(Number(new URL(restateUrls().adminUrl).port));
    agent = await serveAgents([
      object({ name: 'lost-writes', handlers: { wake: async () => {} } }),
    ]);
    const settings = {
      GATEWAY_HISTORY_URL: `http://127.0.0.1:${toHistory.port}${new URL(history.url).pathname}`,
      GATEWAY_RUNTIME_ADMIN_URL: `http://127.0.0.1:${toAdmin.port}`,
    };
    gateway = await startTestGateway(settings);
    hasty = await startTestGateway({ ...settings, GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: '1000' });
  });
  beforeEach(() => {
    stream = `/t/default/lost/${++streams}`;
  });
  afterAll(async () => {
    await gateway?.stop();
    await hasty?.stop();
    for (const id of await deployments()) await atAdmin(`/deployments/${id}?force=true`, 'DELETE');
    await agent?.close();
    await toAdmin?.stop();
    await toHistory?.stop();
    await history?.stop();
  });

  /** Holds the answers on this line back, and cuts it once the server has made the write. */
  async function lose(
    line: FlakyLink,
    path: string,
    init: Write,
    isMade: () => Promise<boolean>,
  ): Promise<Answer> {
    line.stall();
    const answer = ask(gateway, path, init);
    await until('the write is made', isMade);
    line.cut();
    line.resume();
    return answer;
  }

  const create = (): Promise<Answer> => ask(gateway, `/streams${stream}`, { method: 'PUT' });
  const append = (headers = {}): Write => ({ method: 'POST', body: '{"seq":0}', headers });
  const hasEvent = async (): Promise<boolean> => (await events()).length > 0;

  it.each([
    ['with producer headers, once', PRODUCER, [{ seq: 0 }]],
    // Which is why it says that they are needed.
    ['without them and unread, twice', {}, [{ seq: 0 }, { seq: 0 }]],
  ])('tells of an append that it may have been made; repeated %s', async (_, headers, made) => {
    await create();
    const lost = await lose(toHistory, `/streams${stream}`, append(headers), hasEvent);
    expect(lost).toEqual([502, 'upstream_unreachable', `${LOST} ${OF_POST}`]);

    const [status] = await ask(gateway, `/streams${stream}`, append(headers));
    expect(status).toBe(204);
    expect(await events()).toEqual(made);
  });

  it('tells of a PUT that it can be repeated, which creates the stream once', async () => {
    const put = { method: 'PUT', body: '[{"seq":0}]' };
    const lost = await lose(toHistory, `/streams${stream}`, put, hasEvent);
    expect(lost).toEqual([502, 'upstream_unreachable', `${LOST} ${OF_PUT}`]);
    expect(await ask(gateway, `/streams${stream}`, put)).toEqual([200, undefined, undefined]);
    expect(await events()).toEqual([{ seq: 0 }]);
  });

  it('tells of a DELETE with a body that it can be repeated', async () => {
    await create();
    const isGone = async (): Promise<boolean> => (await atStore('HEAD')).status === 404;
    const init = { method: 'DELETE', body: 'x' };
    const lost = await lose(toHistory, `/streams${stream}`, init, isGone);
    expect(lost).toEqual([502, 'upstream_unreachable', `${LOST} ${OF_DELETE}`]);
    expect((await ask(gateway, `/streams${stream}`, init))[0]).toBe(404);
  });

  it('tells of a registration to look for it first, and it is there', async () => {
    const isThere = async (): Promise<boolean> => (await deployments()).length > 0;
    const init = { method: 'POST', body: JSON.stringify({ uri: agent.uri }) };
    const lost = await lose(toAdmin, '/registry/deployments', init, isThere);
    expect(lost).toEqual([502, 'upstream_unreachable', `${LOST} ${OF_CHANGE}`]);
    const services = await fetch(`${gateway.url}/registry/services/lost-writes`, {
      headers: AUTHORIZED,
    });
    expect(services.status).toBe(200);
    await services.arrayBuffer();
  });

  it.each([
    ['POST', OF_POST],
    ['PUT', OF_PUT],
    ['DELETE', OF_DELETE],
  ])('tells the same of a %s whose time is over', async (method, advice) => {
    if (method !== 'PUT') await create();
    toHistory.stall();
    const late = await ask(hasty, `/streams${stream}`, { method, body: '{"seq":0}' });
    toHistory.cut();
    toHistory.resume();
    expect(late).toEqual([502, 'upstream_timeout', `${LATE} ${advice}`]);
  });

  /** Status, and code and detail where it is a problem. */
  type Answer = [status: number, code: string | undefined, detail: string | undefined];

  async function ask(of: TestGateway, path: string, init: Write): Promise<Answer> {
    const headers = { ...AUTHORIZED, 'content-type': 'application/json', ...init.headers };
    const answer = await fetch(of.url + path, { ...init, headers });
    const text = await answer.text();
    const isProblem = answer.headers.get('content-type') === 'application/problem+json';
    const { code, detail } = (isProblem ? JSON.parse(text) : {}) as Record<string, string>;
    return [answer.status, code, detail];
  }

  const atStore = (method = 'GET'): Promise<Response> => fetch(history.url + stream, { method });

  async function events(): Promise<unknown[]> {
    const answer = await atStore();
    const text = await answer.text();
    return answer.ok ? (JSON.parse(text) as unknown[]) : [];
  }

  const atAdmin = (path: string, method = 'GET'): Promise<Response> =>
    fetch(restateUrls().adminUrl + path, { method });

  /** Those of this file's agent. */
  async function deployments(): Promise<string[]> {
    const answer = await atAdmin('/deployments');
    const { deployments: all } = (await answer.json()) as { deployments: Deployment[] };
    return all.filter(({ uri }) => uri?.startsWith(agent.uri)).map(({ id }) => id);
  }
});

interface Deployment {
  id: string;
  uri?: string;
}

interface Write {
  method: string;
  body?: string;
  headers?: Record<string, string>;
}
