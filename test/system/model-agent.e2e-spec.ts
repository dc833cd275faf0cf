import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { AgentGateway, type AgentEvent, type ReplyEvent } from '../../packages/client/src/index.ts';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { API_KEY, AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { restateUrls } from '../support/restate.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const MAIN = join(import.meta.dirname, '../support/model-agent-main.ts');
const TYPE = 'model-agent';

let history: RunningHistory;
let catalog: Catalog;
let gateway: TestGateway;
/** The way of the agent to the gateway. It notes the trace of each request. */
let front: ScriptedUpstream;
const traces: { what: string; traceparent: string | undefined }[] = [];
let client: AgentGateway;
let agent: RunningProcess;
let agentUrl: string;
/** What the agent printed, of all its lives. */
const said: string[] = [];
let deploymentId: string;

beforeAll(async () => {
  history = await startHistory({ longPollTimeoutMs: 1_000 });
  catalog = await startCatalog({ port: 0, databasePath: ':memory:' });
  const { ingressUrl, adminUrl } = restateUrls();
  gateway = await startTestGateway({
    GATEWAY_PORT: '0',
    GATEWAY_RUNTIME_INGRESS_URL: ingressUrl,
    GATEWAY_RUNTIME_ADMIN_URL: adminUrl,
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
  });
  front = await startScriptedUpstream((req, res, body) => {
    const { host: _, connection: _hop, 'content-length': _length, ...headers } = req.headers;
    const { traceparent } = headers as { traceparent?: string };
    traces.push({ what: `${req.method} ${req.url} ${body.toString()}`, traceparent });
    const init = { method: req.method ?? 'GET', headers: headers as Record<string, string> };
    fetch(gateway.url + req.url, body.length > 0 ? { ...init, body: new Uint8Array(body) } : init)
      .then(async (answer) => {
        const producer = [...answer.headers].filter(([name]) => name.startsWith('producer-'));
        res.writeHead(answer.status, Object.fromEntries(producer)).end(await answer.text());
      })
      .catch(() => res.destroy());
  });
  client = new AgentGateway({ url: gateway.url, apiKey: API_KEY });
  await startAgent('0');
  deploymentId = (await client.deployments.register(agentUrl)).id;
});

afterAll(async () => {
  await client.deployments.remove(deploymentId, { force: true });
  await agent.kill();
  await front.stop();
  await gateway.stop();
  await catalog.stop();
  await history.stop();
});

async function startAgent(port: string): Promise<void> {
  agent = startProcess({
    name: 'model agent',
    command: process.execPath,
    args: [MAIN],
    env: {
      PATH: process.env.PATH,
      AGENT_TYPE: TYPE,
      PORT: port,
      GATEWAY_URL: front.url,
      GATEWAY_API_KEY: API_KEY,
      CATALOG_URL: catalog.url,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
    },
    onLine: (line) => said.push(line),
  });
  const line = await agent.waitForLine((text) => text.startsWith('listening on '));
  agentUrl = line.slice('listening on '.length);
}

/** The timeline until an event matches, checked to have no gap. `onEvent` sees each event as it comes. */
async function readUntil(
  id: string,
  isLast: (event: AgentEvent) => boolean,
  onEvent: (event: AgentEvent) => Promise<void> | void = () => {},
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of client.timeline<AgentEvent>(`${TYPE}/${id}`)) {
    events.push(event);
    await onEvent(event);
    if (isLast(event)) break;
  }
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  return events;
}

const isReply = (event: AgentEvent) => event.kind === 'reply';
const isReplyTo = (seq: number) => (event: AgentEvent) =>
  event.kind === 'reply' && event.replyTo === seq;
const isStatus = (status: string) => (event: AgentEvent) =>
  event.kind === 'status' && event.status === status;

function send(id: string, message: string, requestId = 'r1') {
  return client.agents.send(`${TYPE}/${id}`, message, { requestId });
}

function told(events: AgentEvent[]): unknown[] {
  return events.map(({ seq: _seq, at: _at, ...event }) => event);
}

function wordsOf(events: AgentEvent[], replyTo: number): string {
  const words = events.flatMap((event) =>
    event.kind === 'word' && event.replyTo === replyTo ? [event] : [],
  );
  expect(words.map(({ index }) => index)).toEqual(words.map((_, index) => index));
  return words.map(({ text }) => text).join('');
}

function numbers(limit: number): string {
  return Array.from({ length: limit }, (_, index) => `${index + 1} `).join('');
}

const text = (words: string) => [{ type: 'text', text: words }];
const message = (words: string, requestId = 'r1') => ({
  kind: 'message',
  content: text(words),
  requestId,
});

/** Follows the agent's row until it has the status. Electric's client is not used: it leaves a timer of a minute. */
async function rowIs(id: string, status: string): Promise<void> {
  const where = encodeURIComponent(`url = '/t/default/a/${TYPE}/${id}'`);
  let position = 'offset=-1';
  for (let seen: unknown; seen !== status;) {
    const url = `${gateway.url}/shapes/v1/shape?table=entities&where=${where}&${position}`;
    const response = await fetch(url, { headers: AUTHORIZED });
    expect(response.status).toBe(200);
    const { headers } = response;
    const changes = (await response.json()) as { value?: { status?: string } }[];
    const statuses = changes.flatMap(({ value }) => value?.status ?? []);
    seen = statuses.includes(status) ? status : seen;
    position = `handle=${headers.get('electric-handle')}&offset=${headers.get('electric-offset')}&live=true`;
  }
}

describe('an agent with a model', () => {
  it('writes thousands of words in a few events, and then the whole', async () => {
    await send('burst', 'count 5000');
    const events = await readUntil('burst', isReply);
    expect(wordsOf(events, 1)).toBe(numbers(5_000));
    expect(events.length).toBeLessThan(30);
    expect(told([events[0], events[1], events.at(-1)] as AgentEvent[])).toEqual([
      { kind: 'spawned' },
      message('count 5000'),
      { kind: 'reply', replyTo: 1, content: text(numbers(5_000)) },
    ]);
  });

  it('loses no word and repeats none when it crashes, and asks the model for none again', async () => {
    const crashes: { line: number; words: number }[] = [];
    let words = 0;
    await send('crashes', 'count 400 5');
    const events = await readUntil('crashes', isReply, async (event) => {
      if (event.kind !== 'word') return;
      words += event.text.split(' ').length - 1;
      if (crashes.length === 3 || Math.random() < 0.5) return;
      await agent.kill();
      crashes.push({ line: said.length, words });
      await startAgent(new URL(agentUrl).port);
    });
    expect(crashes).toHaveLength(3);
    expect(wordsOf(events, 1)).toBe(numbers(400));
    expect(told(events).at(-1)).toEqual({ kind: 'reply', replyTo: 1, content: text(numbers(400)) });
    for (const crash of crashes) {
      const starts = said.slice(crash.line).flatMap((line) => {
        const [, written] = /^generate .*"written":(\d+)/.exec(line) ?? [];
        return written === undefined ? [] : [Number(written)];
      });
      expect(starts.filter((written) => written < crash.words)).toEqual([]);
    }
  });

  it('calls tools, and gives their results to the model', async () => {
    await send('tools', 'tool weather Rome');
    const input = { city: 'Rome' };
    const call = { kind: 'tool', replyTo: 1, id: '1.1', name: 'weather' };
    const output = { city: 'Rome', degrees: 21 };
    const known = `I know: ${JSON.stringify([{ type: 'tool', id: '1.1', name: 'weather', input, output }])}`;
    expect(told(await readUntil('tools', isReply))).toEqual([
      { kind: 'spawned' },
      message('tool weather Rome'),
      { ...call, state: 'called', input },
      { ...call, state: 'done', output },
      { kind: 'word', replyTo: 1, index: 0, text: known },
      { kind: 'reply', replyTo: 1, content: text(known) },
    ]);
  });

  it('gives the output to a generator that waits for it', async () => {
    await send('inline', 'inline Rome');
    expect(told(await readUntil('inline', isReply)).at(-1)).toMatchObject({
      content: text('It is {"city":"Rome","degrees":21}'),
    });
  });

  it.each([
    ['broken', 'it is broken'],
    ['toString', 'there is no tool toString'],
  ])('tells the model that the tool %s failed', async (tool, error) => {
    await send(tool, `tool ${tool} x`);
    const events = await readUntil(tool, isReply);
    expect(told(events)[3]).toEqual({
      kind: 'tool',
      replyTo: 1,
      id: '1.1',
      name: tool,
      state: 'failed',
      error,
    });
    expect(wordsOf(events, 1)).toContain(error);
  });

  it('spawns a child, with itself as the parent, within the trace of the message', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const response = await fetch(`${gateway.url}/api/a/${TYPE}/mother/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        traceparent: `00-${trace}-b7ad6b7169203331-01`,
      },
      body: 'spawn daughter',
    });
    expect(response.status).toBe(202);
    const url = `/t/default/a/${TYPE}/daughter`;
    const events = await readUntil('mother', isReply);
    expect(told(events)[3]).toMatchObject({ kind: 'tool', state: 'done', output: { url }, url });
    const [born] = await readUntil('daughter', ({ kind }) => kind === 'spawned');
    expect(born).toMatchObject({ parent: `/t/default/a/${TYPE}/mother` });
    const own = traces.filter(({ what }) => /\/mother\/|"parent":".*mother"/.test(what));
    // The stream, six events of the mother, and the spawn; the stream and the first event of the daughter.
    expect(own.length).toBeGreaterThanOrEqual(8);
    expect(own.filter(({ traceparent }) => !traceparent?.includes(trace))).toEqual([]);
  });

  it('gives the model the earlier turns and the arguments of the spawn', async () => {
    await client.agents.spawn({ type: TYPE, id: 'memory', args: { style: 'dry' } });
    await send('memory', 'count 3');
    await send('memory', 'remember');
    const events = await readUntil('memory', isReplyTo(2));
    expect(JSON.parse(wordsOf(events, 2))).toEqual({
      turns: [{ message: 'count 3', reply: '1 2 3 ' }],
      args: { style: 'dry' },
    });
  });

  it('ends an answer that does not come to its end', async () => {
    await send('endless', 'count 1000000');
    const events = await readUntil('endless', ({ kind }) => kind === 'error');
    expect(told(events).at(-1)).toEqual({
      kind: 'error',
      message: 'the reply is longer than 262144 characters',
      replyTo: 1,
    });
    await send('endless', 'count 2');
    await readUntil('endless', isReplyTo(events.length));
  });
});

describe('a model that fails', () => {
  it('is seen on the timeline and in the row, and so is that it works again', async () => {
    await send('failing', 'fail 2');
    const failing = rowIs('failing', 'failing');
    const events = await readUntil('failing', isReply);
    const reason = (attempt: number) => `the model is away (${attempt})`;
    expect(told(events).slice(2)).toEqual([
      { kind: 'word', replyTo: 1, index: 0, text: 'so far ' },
      { kind: 'status', status: 'failing', reason: reason(1), attempt: 1 },
      { kind: 'status', status: 'failing', reason: reason(2), attempt: 2 },
      { kind: 'status', status: 'running' },
      { kind: 'word', replyTo: 1, index: 1, text: 'so good' },
      { kind: 'reply', replyTo: 1, content: text('so far so good') },
    ]);
    await failing;
    await rowIs('failing', 'idle');
  });

  it('ends the turn with an error that is final', async () => {
    await send('final', 'end');
    expect(told(await readUntil('final', ({ kind }) => kind === 'error')).at(-1)).toEqual({
      kind: 'error',
      message: 'not today',
      replyTo: 1,
    });
    await send('final', 'count 2');
    await readUntil('final', isReplyTo(3));
  });

  // An interrupt used to wait behind the retries, for ever.
  it.each(['interrupt', 'archive'] as const)(
    'is stopped by %s between two attempts',
    async (verb) => {
      const id = `failing-${verb}`;
      await send(id, 'fail 1000');
      await readUntil(id, (event) => event.kind === 'status' && event.attempt === 3);
      const { requestId } = await client.agents.control(`${TYPE}/${id}`, verb, {
        reason: 'enough',
      });
      const events = await readUntil(id, isReply);
      const status = verb === 'archive' ? 'archived' : 'idle';
      expect(told(events).slice(-2)).toEqual([
        { kind: 'status', status, verb, reason: 'enough', requestId },
        {
          kind: 'reply',
          replyTo: 1,
          content: text('so far '),
          stopped: { verb, reason: 'enough', requestId },
        },
      ]);
      await rowIs(id, status);
    },
  );
});

describe('a control', () => {
  it('interrupts an answer that hangs, and the next message is answered', async () => {
    await send('hangs', 'hang here');
    await agent.waitForLine((line) => line.startsWith('generate {"text":"hang here"'));
    await client.agents.control(`${TYPE}/hangs`, 'interrupt', { requestId: 'r2' });
    await agent.waitForLine((line) => line === 'aborted hang here');
    await send('hangs', 'count 2', 'r3');
    expect(told(await readUntil('hangs', isReplyTo(4))).slice(2)).toEqual([
      { kind: 'status', status: 'idle', verb: 'interrupt', requestId: 'r2' },
      {
        kind: 'reply',
        replyTo: 1,
        content: [],
        stopped: { verb: 'interrupt', requestId: 'r2' },
      },
      message('count 2', 'r3'),
      { kind: 'word', replyTo: 4, index: 0, text: '1 2 ' },
      { kind: 'reply', replyTo: 4, content: text('1 2 ') },
    ]);
  });

  it('stops an answer with what was said until then', async () => {
    await send('stopped', 'count 10000 1');
    await readUntil('stopped', ({ kind }) => kind === 'word');
    await client.agents.control(`${TYPE}/stopped`, 'interrupt');
    const events = await readUntil('stopped', isReply);
    expect(events.at(-1)).toMatchObject({ content: text(wordsOf(events, 1)) });
    expect(numbers(10_000).startsWith(wordsOf(events, 1))).toBe(true);
  });

  it('pauses and resumes in the middle of an answer, without a word too many', async () => {
    await send('pausing', 'count 200 5');
    await readUntil('pausing', ({ kind }) => kind === 'word');
    await client.agents.control(`${TYPE}/pausing`, 'pause');
    await rowIs('pausing', 'paused');
    await client.agents.control(`${TYPE}/pausing`, 'resume');
    const events = await readUntil('pausing', isReply);
    expect(wordsOf(events, 1)).toBe(numbers(200));
    const paused = events.findIndex(isStatus('paused'));
    expect(events[paused + 1]).toMatchObject({ kind: 'status', verb: 'resume', status: 'running' });
  });

  it('archives for good, with all that waits', async () => {
    await send('archived', 'hang archived');
    await send('archived', 'count 1');
    await client.agents.control(`${TYPE}/archived`, 'archive', { requestId: 'r2' });
    await send('archived', 'count 2', 'r3');
    const stopped = { verb: 'archive', requestId: 'r2' };
    expect(told(await readUntil('archived', ({ kind }) => kind === 'refused'))).toEqual([
      { kind: 'spawned' },
      message('hang archived'),
      message('count 1'),
      { kind: 'status', status: 'archived', ...stopped },
      { kind: 'reply', replyTo: 1, content: [], stopped },
      { kind: 'reply', replyTo: 2, content: [], stopped },
      { kind: 'refused', reason: 'archived', requestId: 'r3' },
    ]);
  });

  it('answers in order what waits, and refuses what is too much', async () => {
    await send('full', 'hang full');
    for (let count = 1; count <= 4; count += 1) await send('full', `count ${count}`, `w${count}`);
    await client.agents.control(`${TYPE}/full`, 'interrupt');
    const events = await readUntil('full', isReplyTo(4));
    const replies = events.filter(isReply) as ReplyEvent[];
    expect(told(events.filter(({ kind }) => kind === 'refused'))).toEqual([
      { kind: 'refused', reason: 'inbox full', requestId: 'w4' },
    ]);
    expect(replies.map(({ replyTo }) => wordsOf(events, replyTo))).toEqual([
      '',
      '1 ',
      '1 2 ',
      '1 2 3 ',
    ]);
  });
});
