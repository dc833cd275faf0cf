import { describe, expect, it } from '@jest/globals';
import type { TimelineEvent } from './events.ts';
import type { AgentFailure } from './failures.ts';
import type { Invocation } from './invocations.ts';
import { withFailure } from './run-failure.ts';
import { runsOf, type Run } from './run.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
/** Events with numbers in order, each at a second. */
const timeline = (...events: [second: number, kind: string, fields?: object][]): TimelineEvent[] =>
  events.map(([second, kind, fields], seq) => ({ seq, at: at(second), kind, ...fields }));
const message = (text: string, more: object = {}) => ({
  content: [{ type: 'text', text }],
  ...more,
});
const tool = (state: string, more: object = {}) => ({
  replyTo: 0,
  id: 'c1',
  name: 'pay',
  state,
  ...more,
});
const reply = (replyTo = 0, more: object = {}) => ({ replyTo, content: [], ...more });

const secondOf = (time: string | undefined) =>
  time === undefined ? '…' : (Date.parse(time) - Date.UTC(2026, 0, 1)) / 1_000;
const stepsIn = ({ steps }: Run) =>
  steps.map(
    ({ kind, name, state, beganAt, endedAt, attempt }) =>
      `${secondOf(beganAt)}-${secondOf(endedAt)} ${kind === name ? '' : `${name} by `}${kind} ${state}${attempt > 1 ? ` #${attempt}` : ''}`,
  );
const only = (events: TimelineEvent[]): Run => {
  const [run, ...others] = runsOf('shop/a', events);
  expect(others).toEqual([]);
  return run as Run;
};

describe('the steps of a run', () => {
  it.each<[string, TimelineEvent[], string[]]>([
    [
      'the model, from the message to the reply',
      timeline(
        [0, 'message', message('hi')],
        [2, 'word', { replyTo: 0, text: 'a' }],
        [3, 'reply', reply()],
      ),
      ['0-3 model done'],
    ],
    [
      'a tool, with the model before and after it',
      timeline(
        [0, 'message', message('hi')],
        [2, 'tool', tool('called')],
        [5, 'tool', tool('done', { output: 1 })],
        [9, 'reply', reply()],
      ),
      ['0-2 model done', '2-5 pay by tool done', '5-9 model done'],
    ],
    [
      'a person who says yes, and then the tool',
      timeline(
        [0, 'message', message('hi')],
        [1, 'tool', tool('waiting', { input: { sum: 3 } })],
        [60, 'decision', { replyTo: 0, call: 'c1', approved: true }],
        [61, 'tool', tool('called')],
        [62, 'tool', tool('done')],
      ),
      ['0-1 model done', '1-60 pay by person done', '60-62 pay by tool done', '62-… model open'],
    ],
    [
      'a person who says no',
      timeline(
        [0, 'message', message('hi')],
        [1, 'tool', tool('waiting')],
        [60, 'decision', { replyTo: 0, call: 'c1', approved: false }],
        [60, 'tool', tool('denied')],
      ),
      ['0-1 model done', '1-60 pay by person denied', '60-… model open'],
    ],
    [
      'two calls at a time, of which one is another agent',
      timeline(
        [0, 'message', message('hi')],
        [1, 'tool', tool('called')],
        [1, 'tool', tool('called', { id: 'c2', name: 'ask' })],
        [2, 'tool', tool('called', { id: 'c2', name: 'ask', url: '/t/default/a/clerk/b' })],
        [3, 'tool', tool('failed', { error: 'no money' })],
        [7, 'tool', tool('done', { id: 'c2', name: 'ask' })],
      ),
      ['0-1 model done', '1-3 pay by tool failed', '1-7 ask by agent done', '7-… model open'],
    ],
    [
      'each attempt of the model',
      timeline(
        [0, 'message', message('hi')],
        [4, 'status', { status: 'failing', reason: 'the model failed', attempt: 1 }],
        [9, 'status', { status: 'failing', reason: 'the model failed', attempt: 2 }],
        [12, 'status', { status: 'running' }],
        [12, 'word', { replyTo: 0, text: 'a' }],
        [13, 'reply', reply()],
      ),
      ['0-4 model failed', '4-9 model failed #2', '9-13 model done #3'],
    ],
    [
      'the wait while the agent is paused',
      timeline(
        [0, 'status', { status: 'paused', verb: 'pause' }],
        [1, 'message', message('hi')],
        [9, 'status', { status: 'running', verb: 'resume' }],
      ).with(1, { ...timeline([1, 'message', message('hi')])[0], seq: 1 } as TimelineEvent),
      ['1-9 queue done', '9-… model open'],
    ],
    [
      'what was under way when it was stopped',
      timeline(
        [0, 'message', message('hi')],
        [1, 'tool', tool('called')],
        [5, 'reply', reply(0, { stopped: { verb: 'interrupt' } })],
      ),
      ['0-1 model done', '1-5 pay by tool stopped'],
    ],
  ])('are %s', (_, events, steps) => {
    expect(stepsIn(only(events))).toEqual(steps);
  });

  it('begin for a message that waited when the turn before it has ended', () => {
    const runs = runsOf(
      'shop/a',
      timeline(
        [0, 'message', message('one')],
        [1, 'message', message('two', { ahead: 1 })],
        [1, 'message', message('three', { ahead: 2 })],
        [5, 'reply', reply(0)],
        [8, 'reply', reply(1)],
      ),
    );
    expect(runs.map((run) => [run.message, run.state, run.durationMs, stepsIn(run)])).toEqual([
      ['one', 'done', 5_000, ['0-5 model done']],
      ['two', 'done', 3_000, ['1-5 queue done', '5-8 model done']],
      ['three', 'waiting', undefined, ['1-8 queue done', '8-… model open']],
    ]);
  });
});

describe('a run', () => {
  it('says how it ended, how often it was tried and what it used', () => {
    const run = only(
      timeline(
        [0, 'message', message('buy', { invocationId: 'inv_1' })],
        [1, 'status', { status: 'failing', reason: 'the model failed', attempt: 1 }],
        [3, 'error', { replyTo: 0, message: 'the agent failed', usage: { inputTokens: 7 } }],
      ),
    );
    expect(run).toMatchObject({
      agent: 'shop/a',
      id: 'inv_1',
      message: 'buy',
      state: 'failed',
      error: 'the agent failed',
      attempts: 2,
      durationMs: 3_000,
      usage: { inputTokens: 7 },
    });
  });

  it('fails until its next attempt works', () => {
    const failing = timeline(
      [0, 'message', message('buy')],
      [1, 'status', { status: 'failing', reason: 'the model failed', attempt: 1 }],
    );
    expect(only(failing)).toMatchObject({
      state: 'failing',
      attempts: 1,
      error: 'the model failed',
    });
    const [, , again] = timeline([0, 'x'], [1, 'x'], [2, 'status', { status: 'running' }]);
    expect(only([...failing, again as TimelineEvent])).toMatchObject({
      state: 'waiting',
      attempts: 2,
      error: undefined,
    });
  });

  it('has what waits for a person, and since when', () => {
    const events = timeline(
      [0, 'message', message('buy')],
      [1, 'tool', tool('waiting', { input: { sum: 3 } })],
    );
    expect(only(events)).toMatchObject({
      state: 'asking',
      waiting: [{ call: 'c1', name: 'pay', input: { sum: 3 }, since: at(1) }],
    });
  });

  it('takes any JSON for an event', () => {
    const nonsense = [null, 7, 'x', [], {}, { kind: 'tool' }, { kind: 'status', status: {} }];
    const fields = ['seq', 'at', 'replyTo', 'id', 'name', 'state', 'call', 'error', 'text'];
    const kinds = ['message', 'tool', 'word', 'decision', 'reply', 'error', 'status', 'refused'];
    for (const kind of kinds) {
      for (const value of [null, {}, [], 'x', -1, 1e99, { toString: 1 }]) {
        nonsense.push(Object.fromEntries([['kind', kind], ...fields.map((one) => [one, value])]));
      }
    }
    const events = [
      ...timeline([0, 'message', message('buy')]),
      ...(nonsense as TimelineEvent[]),
      { ...timeline([1, 'reply', reply()])[0], seq: 1 } as TimelineEvent,
    ];
    expect(runsOf('shop/a', events).at(0)).toMatchObject({ message: 'buy', state: 'done' });
  });
});

describe('a run whose failure Restate knows', () => {
  const failure = (more: Partial<AgentFailure> = {}): AgentFailure => ({
    agent: 'shop/a',
    state: 'failing',
    since: at(0),
    tries: 5,
    reason: 'Error: 401\n  at f',
    nextTryAt: at(9),
    invocation: { id: 'inv_2', target: 'shopTurn/run' } as Invocation,
    ...more,
  });
  const open = runsOf('shop/a', timeline([0, 'message', message('buy')]));
  const told = (runs: readonly Run[], one: AgentFailure | undefined) =>
    withFailure(runs, 'shop/a', one).map(({ key, state, detail }) => [key, state, detail]);

  it.each<[string, readonly Run[], AgentFailure | undefined, unknown[][]]>([
    ['nothing', open, undefined, [['#turn0', 'waiting', undefined]]],
    ['that the turn fails', open, failure(), [['#turn0', 'failing', 'Error: 401\n  at f']]],
    [
      'that a command fails, which no timeline has',
      open,
      failure({ invocation: { id: 'inv_3', target: 'shop/a/wake' } as Invocation }),
      [
        ['#turn0', 'waiting', undefined],
        ['#inv_3', 'failing', 'Error: 401\n  at f'],
      ],
    ],
    [
      'the error of a turn that failed for good',
      runsOf(
        'shop/a',
        timeline(
          [0, 'message', message('buy')],
          [1, 'error', { replyTo: 0, message: 'the agent failed' }],
        ),
      ),
      failure({ state: 'failed', invocation: undefined }),
      [['#turn0', 'failed', 'Error: 401\n  at f']],
    ],
  ])('has %s', (_, runs, one, expected) => {
    expect(told(runs, one)).toEqual(expected);
  });
});
