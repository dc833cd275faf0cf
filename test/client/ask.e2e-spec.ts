import { describe, expect, it } from '@jest/globals';
import { entity, putEntity } from '../../local/catalog/catalog-fixture.ts';
import { startCatalog } from '../../local/catalog/catalog-server.ts';
import {
  AgentGateway,
  AnswerError,
  type AgentEvent,
  type Answer,
} from '../../packages/client/src/index.ts';
import { answeringAgent } from '../support/answering-agent.ts';
import { startFlakyLink } from '../support/flaky-link.ts';
import { API_KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { registerAgents, restateSettings } from '../support/restate.ts';
import { freePort } from '../support/runtime.ts';
import { forAllTests } from '../support/for-this-test.ts';

const TYPE = 'client-ask';
const OLD_TYPE = 'client-ask-old';
const catalog = forAllTests(() => startCatalog({ port: 0, databasePath: ':memory:' }));
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
forAllTests(() => {
  const access = { gatewayUrl: '', streamsUrl: history.url, apiKey: API_KEY };
  return registerAgents([
    answeringAgent(TYPE, access),
    answeringAgent(OLD_TYPE, access, 'unknown'),
  ]);
});
let env: Record<string, string>;
let gateway: TestGateway;
forAllTests(async () => {
  const GATEWAY_PORT = String(await freePort());
  const upstreams = { GATEWAY_HISTORY_URL: history.url, GATEWAY_SYNC_URL: catalog.url };
  env = { GATEWAY_PORT, ...upstreams, ...restateSettings() };
  gateway = await startTestGateway(env);
  return { stop: () => gateway.stop() };
});
const link = forAllTests(() => startFlakyLink(gateway.port));

/** A client, and the reads that it made. */
function client(url = gateway.url) {
  const reads: string[] = [];
  const watching: typeof fetch = (input, init) => {
    const { pathname, searchParams } = new URL(input as string);
    if (pathname.startsWith('/streams')) {
      reads.push(`${init?.method ?? 'GET'} ${searchParams.get('offset')}`);
    }
    return fetch(input, init);
  };
  return { reads, ask: asking(new AgentGateway({ url, apiKey: API_KEY, fetch: watching })) };
}
const asking =
  ({ agents: commands }: AgentGateway) =>
  (id: string, message: string, options = {}): Answer =>
    commands.ask(`${TYPE}/${id}`, message, options);

/** Reads an answer: the texts of its words, and the kinds of its other events. */
async function kindsOf(
  answer: AsyncIterable<AgentEvent>,
  act: (event: AgentEvent) => unknown = () => undefined,
  seen: unknown[] = [],
): Promise<unknown[]> {
  for await (const event of answer) {
    seen.push(event.kind === 'word' ? event.text : event.kind);
    await act(event);
  }
  return seen;
}
/** The error of a promise that has to reject. */
const errorOf = (promise: Promise<unknown>): Promise<AnswerError> =>
  promise.then(
    () => Promise.reject(new Error('It has resolved.')),
    (error: AnswerError) => error,
  );

describe('an answer', () => {
  it('has the events of its turn, and the text', async () => {
    const { ask } = client();
    const answer = ask('plain', 'say one two');
    expect(await kindsOf(answer)).toEqual(['message', 'one', ' two', 'reply']);
    expect(await answer.text()).toBe('one two');
    expect(await answer.reply()).toMatchObject({ seq: 4, kind: 'reply', replyTo: 1 });
    expect(await answer.sent).toMatchObject({ url: `/t/default/a/${TYPE}/plain`, isReplay: false });
    // It can be read again, and there is nothing to stop.
    expect(await kindsOf(answer)).toHaveLength(4);
    expect(await answer.stop()).toBeUndefined();
  });

  it('is read from where the timeline was before, never from its start', async () => {
    const { ask, reads } = client();
    await ask('long', 'say first').text();
    reads.length = 0;
    expect(await ask('long', 'say second').text()).toBe('second');
    expect(reads.length).toBeGreaterThan(1);
    expect(reads[0]).toBe('HEAD null');
    const stored = await fetch(`${history.url}/t/default/agents/${TYPE}/long/timeline`);
    expect(((await stored.json()) as AgentEvent[]).length).toBeGreaterThan(6);
    expect(reads.filter((read) => read === 'GET -1')).toEqual([]);
  });

  it('is that of its own message, of two that are asked at once', async () => {
    const { ask } = client();
    const words = Array.from({ length: 8 }, (_, index) => `w${index}`);
    const answers = words.map((word) => ask('at-once', `slow ${word} ${word}`));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(texts).toEqual(words.map((word) => `${word} ${word}`));
  });

  it('sends nothing before it is read, and once however it is read', async () => {
    const { ask } = client();
    const answer = ask('once', 'say one');
    const unread = ask('once', 'say never');
    const [text, kinds, reply, sent] = await Promise.all([
      answer.text(),
      kindsOf(answer),
      answer.reply(),
      answer.sent,
    ]);
    expect([text, kinds, reply.seq]).toEqual(['one', ['message', 'one', 'reply'], 3]);
    expect(sent.requestId).toBeTruthy();
    expect(await unread.stop()).toBeUndefined();
    await expect(unread.text()).rejects.toMatchObject({ code: 'stopped', text: '' });
    await expect(unread.sent).rejects.toMatchObject({ code: 'stopped' });
    expect(await ask('once', 'say last').reply()).toMatchObject({ seq: 6 });
  });

  it('goes on where a reader left it', async () => {
    const { ask } = client();
    const answer = ask('left', 'slow a b c');
    for await (const { kind } of answer) if (kind === 'word') break;
    expect(await kindsOf(answer)).toEqual(['message', 'a', ' b', ' c', 'reply']);
  });
});

describe('an answer that does not come', () => {
  it('ends after a stop, with what was said', async () => {
    const { ask } = client();
    const answer = ask('stopped', 'hold it is');
    const seen = await kindsOf(
      answer,
      (event) => event.kind === 'word' && event.index === 1 && answer.stop('enough'),
    );
    expect(seen).toEqual(['message', 'it', ' is', 'reply']);
    const error = await errorOf(answer.text());
    expect(error).toBeInstanceOf(AnswerError);
    expect(error).toMatchObject({
      name: 'AnswerError',
      code: 'stopped',
      message: 'The answer was stopped: enough',
      text: 'it is',
      stoppedBy: { verb: 'stop', reason: 'enough', requestId: expect.any(String) },
    });
  });

  // A stop that came late ended the next message, maybe another user's.
  it('ends by a stop of its own and of no other', async () => {
    const { ask } = client();
    const { agents } = new AgentGateway({ url: gateway.url, apiKey: API_KEY });
    const { invocationId } = await ask('own-stop', 'say past').sent;
    const answer = ask('own-stop', 'hold on');
    const other = ask('own-stop', 'behind 1');
    const kinds = await Promise.all([
      kindsOf(answer, async ({ kind }) => {
        if (kind !== 'word') return;
        await agents.stop(`${TYPE}/own-stop`, invocationId, { reason: 'late' });
        await other.stop();
      }),
      kindsOf(other, ({ kind }) => kind === 'reply' && answer.stop('now')),
    ]);
    expect(kinds).toEqual([
      ['message', 'on', 'reply'],
      ['message', 'reply'],
    ]);
    expect(await errorOf(answer.text())).toMatchObject({ stoppedBy: { reason: 'now' } });
    const error = await errorOf(other.text());
    expect([error.message, error.stoppedBy?.verb]).toEqual(['The answer was stopped', 'stop']);
  });

  it('ends by an interrupt where the agent does not name its turns', async () => {
    const answer = new AgentGateway({ url: gateway.url, apiKey: API_KEY }).agents.ask(
      `${OLD_TYPE}/stopped`,
      'hold it is',
    );
    await kindsOf(answer, ({ kind }) => kind === 'word' && answer.stop('enough'));
    expect(await errorOf(answer.text())).toMatchObject({
      message: 'The answer was stopped by an interrupt: enough',
      stoppedBy: { verb: 'interrupt' },
    });
  });

  it.each([
    ['refuse', 'refused', 'The agent refused the message: inbox full', ['refused']],
    ['archived', 'archived', 'The agent refused the message: archived', ['refused']],
    ['fail', 'failed', 'The agent failed: no model', ['message', 'error']],
  ])('says so: %s', async (message, code, said, kinds) => {
    const { ask } = client();
    const answer = ask(message, message);
    const seen: unknown[] = [];
    const reading = kindsOf(answer, undefined, seen);
    expect(await errorOf(reading)).toMatchObject({ code, message: said });
    expect(seen).toEqual(kinds);
    expect(await errorOf(answer.reply())).toMatchObject({ code, message: said, status: undefined });
  });

  it('tells what Restate knows of the reason', async () => {
    const { ask } = client();
    // In this time Restate must have tried both, also on a busy machine.
    const options = { timeoutMs: 8_000 };
    const [failing, silent] = await Promise.all([
      errorOf(ask('failing', 'throw', options).text()),
      errorOf(ask('silent', 'silent', options).text()),
    ]);
    expect(failing).toMatchObject({ code: 'not_answered', requestId: expect.any(String) });
    expect(failing.message).toMatch(
      /^The agent did not begin to answer within 8000 ms: client-ask\/failing\/wake is \S+ after \d+ tries: .*the model is away/,
    );
    expect(failing.invocations).toMatchObject([{ target: `${TYPE}/failing/wake` }]);
    expect(silent.message).toBe(
      'The agent did not begin to answer within 8000 ms: it has handled the message, but has written no event that names the request.',
    );
  });

  // On a paused agent it never ended, because the agent had noted the message.
  it('says why nothing began, although the agent has the message', async () => {
    const { ask } = client();
    const url = `/t/default/a/${TYPE}/row`;
    await putEntity(
      catalog,
      entity('row', { url, tenant: 'default', type: TYPE, status: 'paused' }),
    );
    // In this time the agent must have written, also on a busy machine.
    const options = { timeoutMs: 8_000 };
    const messages = ['behind 1', 'behind 2', 'paused', 'trouble'];
    const errors = await Promise.all([
      ...messages.map((message) =>
        errorOf(ask(message.replace(' ', '-'), message, options).text()),
      ),
      errorOf(ask('row', 'behind 1', options).text()),
    ]);
    expect(errors.map(({ code }) => code)).toEqual(errors.map(() => 'not_answered'));
    const late = 'The agent did not begin to answer within 8000 ms: ';
    expect(errors.map(({ message }) => message.replace(late, ''))).toEqual([
      '1 other turn is before it.',
      '2 other turns are before it.',
      'it is paused.',
      'it is failing (attempt 2): the model is away.',
      'it is paused; 1 other turn is before it.',
    ]);
  });

  it('takes its time once the agent has begun, also without a word', async () => {
    const { ask } = client();
    // In this time each agent must have begun, also on a busy machine.
    const options = { timeoutMs: 8_000 };
    const begins = { thinks: 'reasoning', asks: 'tool', gives: 'data' };
    const seen = Object.entries(begins).map(async ([message, kind]) => {
      const answer = ask(message, message, options);
      // The time of the other one begins later, and is over before the answer is stopped.
      const kinds = await kindsOf(answer, async (event) => {
        if (event.kind !== kind) return;
        const silent = await errorOf(ask(`${message}-silent`, 'silent', options).text());
        expect(silent.code).toBe('not_answered');
        await answer.stop();
      });
      expect(kinds).toEqual(['message', kind, 'reply']);
    });
    await Promise.all(seen);
  });

  it('has no reason of its own, where the key may not ask', async () => {
    const { url } = gateway;
    const refusing: typeof fetch = (input, init) =>
      /\/(?:registry|shapes)\//.test(input as string)
        ? Promise.resolve(Response.json({}, { status: 403 }))
        : fetch(input, init);
    const commands = new AgentGateway({ url, apiKey: API_KEY, fetch: refusing });
    const answer = asking(commands)('no-reason', 'silent', { timeoutMs: 200 });
    const { code, message, invocations } = await errorOf(answer.text());
    expect([code, message, invocations]).toEqual([
      'not_answered',
      'The agent did not begin to answer within 200 ms.',
      [],
    ]);
  });

  it('ends when its signal aborts, before it is sent and later', async () => {
    const { ask, reads } = client();
    const reason = new Error('the user has left');
    const before = ask('aborted', 'say one', { signal: AbortSignal.abort(reason) });
    expect(await errorOf(before.text())).toBe(reason);
    expect(reads).toEqual([]);
    const controller = new AbortController();
    const answer = ask('aborted', 'hold one', { signal: controller.signal });
    const seen: unknown[] = [];
    const leave = ({ kind }: AgentEvent) => kind === 'word' && controller.abort(reason);
    expect(await errorOf(kindsOf(answer, leave, seen))).toBe(reason);
    expect(seen).toEqual(['message', 'one']);
  });

  it('rejects as its message is refused by the gateway', async () => {
    const answer = client().ask('id', 'x'.repeat(9_000_000));
    expect(await errorOf(answer.text())).toMatchObject({ name: 'APIError', status: 413 });
    expect(() => client().ask('a/b/c', 'x')).not.toThrow();
    await expect(client().ask('a/b/c', 'x').text()).rejects.toBeInstanceOf(TypeError);
  });
});

describe('an answer on a bad line', () => {
  const WORDS = Array.from({ length: 60 }, (_, index) => `w${index}`);
  const expected = [
    'message',
    ...WORDS.map((word, index) => `${index ? ' ' : ''}${word}`),
    'reply',
  ];

  it('has each word once, wherever the connection is cut', async () => {
    const { ask } = client(link.url);
    const answer = ask('cut', `slow ${WORDS.join(' ')}`);
    let cuts = 0;
    const seen = await kindsOf(answer, () => {
      if (Math.random() > 0.3) return;
      link.cut();
      cuts += 1;
    });
    expect(cuts).toBeGreaterThan(0);
    expect(seen).toEqual(expected);
  });

  it('has each word once, when the gateway restarts in the middle', async () => {
    const { ask } = client();
    const answer = ask('restart', `slow ${WORDS.join(' ')}`);
    let restarting: Promise<void> | undefined;
    const seen = await kindsOf(answer, (event) => {
      if (event.kind !== 'word' || event.index !== 5) return;
      restarting = gateway.stop().then(async () => {
        gateway = await startTestGateway(env);
      });
    });
    await restarting;
    expect(seen).toEqual(expected);
  });
});
