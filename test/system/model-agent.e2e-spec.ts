import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { API_KEY } from '../support/gateway.ts';
import {
  modelAgentWorld,
  isKind,
  isReplyTo,
  text,
  told,
  wordsOf,
  type TimelineEvent,
} from './agent-world.ts';

const TYPE = 'model-agent';
const world = modelAgentWorld(TYPE);

beforeAll(() => world.start());
afterAll(() => world.stop());

const readUntil = (
  id: string,
  ...more: [(event: TimelineEvent) => boolean, ((event: TimelineEvent) => Promise<void> | void)?]
) => world.readUntil(`${TYPE}/${id}`, ...more);
const rowIs = (id: string, status: string) => world.rowOf(`${TYPE}/${id}`, status);

const isReply = isKind('reply');
const isWord = isKind('word');
const isStatus = (status: string) => (event: TimelineEvent) =>
  event.kind === 'status' && event.status === status;

function send(id: string, message: string, requestId = 'r1') {
  return world.client.agents.send(`${TYPE}/${id}`, message, { requestId });
}

function numbers(limit: number): string {
  return Array.from({ length: limit }, (_, index) => `${index + 1} `).join('');
}

const message = (words: string, requestId = 'r1') => ({
  kind: 'message',
  content: text(words),
  requestId,
});

describe('an agent with a model', () => {
  it('writes thousands of words in a few events, and then the whole', async () => {
    await send('burst', 'count 5000');
    const events = await readUntil('burst', isReply);
    expect(wordsOf(events, 1)).toBe(numbers(5_000));
    expect(events.length).toBeLessThan(30);
    expect(told([events[0], events[1], events.at(-1)] as TimelineEvent[])).toEqual([
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
      words += String(event.text).split(' ').length - 1;
      if (crashes.length === 3 || Math.random() < 0.5) return;
      await world.agents.kill();
      crashes.push({ line: world.said.length, words });
      await world.startAgents();
    });
    expect(crashes).toHaveLength(3);
    expect(wordsOf(events, 1)).toBe(numbers(400));
    expect(told(events).at(-1)).toEqual({ kind: 'reply', replyTo: 1, content: text(numbers(400)) });
    for (const crash of crashes) {
      const starts = world.said.slice(crash.line).flatMap((line) => {
        const [, written] = /^generate .*"written":(\d+)/.exec(line) ?? [];
        return written === undefined ? [] : [Number(written)];
      });
      expect(starts.filter((written) => written < crash.words)).toEqual([]);
    }
  });

  it('calls tools, and gives their results to the model', async () => {
    await send('tools', 'tool weather Rome');
    const input = { city: 'Rome' };
    const call = { kind: 'tool', replyTo: 1, id: '1', name: 'weather' };
    const output = { city: 'Rome', degrees: 21 };
    const events = await readUntil('tools', isReply);
    const id = events[2]?.id;
    // The end of the turn's name, and the number of the call.
    expect(id).toBe(`${String(events[1]?.invocationId).slice(-8)}.1`);
    const known = `I know: ${JSON.stringify([{ type: 'tool', id, name: 'weather', input, output }])}`;
    expect(told(events)).toEqual([
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
    ['broken', 'it is broken', undefined],
    ['toString', 'there is no tool toString', 'there is no tool toString'],
  ])('tells the model why the tool %s failed', async (tool, error, shown) => {
    await send(tool, `tool ${tool} x`);
    const events = await readUntil(tool, isReply);
    expect(told(events)[3]).toEqual({
      kind: 'tool',
      replyTo: 1,
      id: '1',
      name: tool,
      state: 'failed',
      ...(shown !== undefined && { error: shown }),
    });
    expect(wordsOf(events, 1)).toContain(error);
  });

  it('spawns a child, with itself as the parent, within the trace of the message', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const own: unknown[] = [];
    world.beforeAnswer = ({ method, url, headers }, body) => {
      const what = `${method} ${url} ${body}`;
      if (/\/mother\/|"parent":".*mother"/.test(what)) own.push(headers.traceparent);
    };
    const response = await fetch(`${world.gateway.url}/api/a/${TYPE}/mother/send`, {
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
    const [born] = await readUntil('daughter', isKind('spawned'));
    expect(born).toMatchObject({ parent: `/t/default/a/${TYPE}/mother` });
    // The stream, six events of the mother, and the spawn; the stream and the first event of the daughter.
    expect(own.length).toBeGreaterThanOrEqual(8);
    expect(own.filter((traceparent) => !String(traceparent).includes(trace))).toEqual([]);
  });

  it('gives the model the earlier turns and the arguments of the spawn', async () => {
    await world.client.agents.spawn({ type: TYPE, id: 'memory', args: { style: 'dry' } });
    await send('memory', 'count 3');
    await send('memory', 'remember');
    const events = await readUntil('memory', isReplyTo(2));
    expect(JSON.parse(wordsOf(events, 2))).toEqual({
      turns: [{ message: 'count 3', reply: '1 2 3 ', parts: [{ type: 'text', text: '1 2 3 ' }] }],
      args: { style: 'dry' },
    });
  });

  it('ends an answer that does not come to its end', async () => {
    await send('endless', 'count 1000000');
    const events = await readUntil('endless', isKind('error'));
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
    const reason = 'the model failed';
    expect(told(events).slice(2)).toEqual([
      { kind: 'word', replyTo: 1, index: 0, text: 'so far ' },
      { kind: 'status', status: 'failing', reason, attempt: 1 },
      { kind: 'status', status: 'failing', reason, attempt: 2 },
      { kind: 'status', status: 'running' },
      { kind: 'word', replyTo: 1, index: 1, text: 'so good' },
      { kind: 'reply', replyTo: 1, content: text('so far so good') },
    ]);
    await failing;
    await rowIs('failing', 'idle');
  });

  it('ends the turn with an error that is final', async () => {
    await send('final', 'end');
    expect(told(await readUntil('final', isKind('error'))).at(-1)).toEqual({
      kind: 'error',
      message: 'the agent failed',
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
      const { requestId } = await world.client.agents.control(`${TYPE}/${id}`, verb, {
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
    await world.hears('generate {"text":"hang here"');
    await world.client.agents.control(`${TYPE}/hangs`, 'interrupt', { requestId: 'r2' });
    await world.hears('aborted hang here');
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
    await readUntil('stopped', isWord);
    await world.client.agents.control(`${TYPE}/stopped`, 'interrupt');
    const events = await readUntil('stopped', isReply);
    expect(events.at(-1)).toMatchObject({ content: text(wordsOf(events, 1)) });
    expect(numbers(10_000).startsWith(wordsOf(events, 1))).toBe(true);
  });

  it('pauses and resumes in the middle of an answer, and answers what came meanwhile', async () => {
    await send('pausing', 'count 200 5');
    await readUntil('pausing', isWord);
    await world.client.agents.control(`${TYPE}/pausing`, 'pause');
    await rowIs('pausing', 'paused');
    await send('pausing', 'count 1');
    await readUntil(
      'pausing',
      ({ content }) => JSON.stringify(content) === JSON.stringify(text('count 1')),
    );
    await world.client.agents.control(`${TYPE}/pausing`, 'resume', { requestId: 'r1' });
    const whole = await readUntil('pausing', isReply);
    expect(wordsOf(whole, 1)).toBe(numbers(200));
    const paused = whole.findIndex(isStatus('paused'));
    expect(told(whole.slice(paused + 1, paused + 3))).toEqual([
      { ...message('count 1'), ahead: 1 },
      { kind: 'status', verb: 'resume', status: 'running', requestId: 'r1' },
    ]);
    const events = await readUntil('pausing', isReplyTo(paused + 1));
    expect(wordsOf(events, paused + 1)).toBe(numbers(1));
  });

  it('archives for good, with all that waits', async () => {
    await send('archived', 'hang archived');
    await send('archived', 'count 1');
    await world.client.agents.control(`${TYPE}/archived`, 'archive', { requestId: 'r2' });
    await send('archived', 'count 2', 'r3');
    const stopped = { verb: 'archive', requestId: 'r2' };
    expect(told(await readUntil('archived', isKind('refused')))).toEqual([
      { kind: 'spawned' },
      message('hang archived'),
      { ...message('count 1'), ahead: 1 },
      { kind: 'status', status: 'archived', ...stopped },
      { kind: 'reply', replyTo: 1, content: [], stopped },
      { kind: 'reply', replyTo: 2, content: [], stopped },
      { kind: 'refused', reason: 'archived', requestId: 'r3' },
    ]);
  });

  it('answers in order what waits, and refuses what is too much', async () => {
    await send('full', 'hang full');
    for (let count = 1; count <= 4; count += 1) await send('full', `count ${count}`, `w${count}`);
    await world.client.agents.control(`${TYPE}/full`, 'interrupt');
    const events = await readUntil('full', isReplyTo(4));
    const replies = events.filter(isReply);
    expect(told(events.filter(isKind('refused')))).toEqual([
      { kind: 'refused', reason: 'inbox full', requestId: 'w4' },
    ]);
    expect(replies.map(({ replyTo }) => wordsOf(events, Number(replyTo)))).toEqual([
      '',
      '1 ',
      '1 2 ',
      '1 2 3 ',
    ]);
  });
});
