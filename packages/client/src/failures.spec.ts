import { describe, expect, it } from '@jest/globals';
import { agentsNow, failuresOf, type FailureSources, type StoredFailure } from './failures.ts';
import type { Invocation } from './invocations.ts';

const invocation = (target: string, more: Partial<Invocation> = {}): Invocation => ({
  id: 'inv_1',
  target,
  status: 'backing-off',
  createdAt: '2026-01-01T00:00:00Z',
  tries: 3,
  lastFailure: 'no model',
  nextTryAt: undefined,
  invokedBy: undefined,
  deploymentId: 'dp_1',
  ...more,
});
const stored = (more: Partial<StoredFailure> = {}): StoredFailure => ({
  since: '2026-01-02T00:00:00Z',
  tries: 2,
  error: 'Error: 401 of the model',
  isFinal: false,
  ...more,
});
const sources = (more: Partial<FailureSources>): FailureSources => ({
  failing: [],
  stored: new Map(),
  failed: [],
  good: new Map(),
  rows: [],
  ...more,
});
const told = (more: Partial<FailureSources>) =>
  failuresOf(sources(more)).map(({ agent, state, reason }) => `${agent} ${state}: ${reason}`);
const EARLIER = '2025-12-31T00:00:00Z';
const LATER = '2026-01-02T00:00:00Z';
const ended = (target: string) =>
  invocation(target, { status: 'completed', lastFailure: 'not today' });
const row = (status: string) => ({ type: 'echo', id: 'a', status, updated_at: LATER });

describe('the failures of agents', () => {
  it.each<[string, Partial<FailureSources>, string[]]>([
    [
      'an invocation that is tried again',
      { failing: [invocation('echo/a/wake')] },
      ['echo/a failing: no model'],
    ],
    [
      'a turn of an agent',
      { failing: [invocation('writerTurn/run', { invokedBy: 'writer/b/wake' })] },
      ['writer/b failing: no model'],
    ],
    // It had the name of the turn's service.
    [
      'a turn that cannot write its events',
      { failing: [invocation('writer/b/write', { invokedBy: 'writerTurn/run' })] },
      ['writer/b failing: no model'],
    ],
    ['no service that no agent has called', { failing: [invocation('payments/charge')] }, []],
    ['no other object', { failing: [invocation('cart/7/add')] }, []],
    [
      'one that Restate has paused',
      { failing: [invocation('echo/a/wake', { status: 'paused', lastFailure: undefined })] },
      [
        'echo/a paused: Restate has paused it after its last attempt, and does not try again by itself.',
      ],
    ],
    [
      'a model that fails, which no invocation does',
      { stored: new Map([['writer/w', stored()]]) },
      ['writer/w failing: Error: 401 of the model'],
    ],
    [
      'a turn that failed for good',
      { stored: new Map([['writer/w', stored({ isFinal: true })]]) },
      ['writer/w failed: Error: 401 of the model'],
    ],
    [
      'a command that failed for good',
      { failed: [ended('echo/a/wake')] },
      ['echo/a failed: not today'],
    ],
    [
      'none that went well since',
      { failed: [ended('echo/a/wake')], good: new Map([['echo/a/wake', LATER]]) },
      [],
    ],
    [
      'one that went well only before',
      { failed: [ended('echo/a/wake')], good: new Map([['echo/a/wake', EARLIER]]) },
      ['echo/a failed: not today'],
    ],
    // A pause, or a spawn of what is there, said nothing about the message, and ended the failure.
    [
      'a message that failed, whatever other command went well since',
      {
        failed: [ended('echo/a/wake')],
        good: new Map([
          ['echo/a/control', LATER],
          ['echo/a/spawn', LATER],
        ]),
      },
      ['echo/a failed: not today'],
    ],
    [
      'no spawn that failed before a good message',
      { failed: [ended('echo/a/spawn')], good: new Map([['echo/a/wake', LATER]]) },
      [],
    ],
    [
      'one whose row alone says so',
      { rows: [row('failing')] },
      ['echo/a failing: Its row says so. Restate has nothing of it that fails.'],
    ],
    [
      'what Restate knows rather than what the row says',
      { rows: [row('failed')], failing: [invocation('echo/a/wake')] },
      ['echo/a failing: no model'],
    ],
  ])('have %s', (_, more, expected) => {
    expect(told(more)).toEqual(expected);
  });

  it('name each agent once, and those first that are tried again', () => {
    const found = told({
      failing: [invocation('writer/w/write')],
      stored: new Map([
        ['writer/old', stored({ since: '2025-01-01T00:00:00Z', isFinal: true })],
        ['writer/w', stored()],
        ['writer/v', stored()],
      ]),
      failed: [ended('writer/w/wake')],
    });
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'writer/w failing',
      'writer/v failing',
      'writer/old failed',
    ]);
  });

  it('are the statuses of the agents now, and give a row to those without one', () => {
    const times = { created_at: EARLIER, updated_at: EARLIER };
    const rowOf = (id: string, status: string) => ({
      url: `/t/x/a/echo/${id}`,
      type: 'echo',
      id,
      status,
      parent: null,
      tenant: 'x',
      ...times,
    });
    const failures = failuresOf(
      sources({
        failing: [invocation('echo/a/wake', { status: 'paused' }), invocation('echo/new/spawn')],
        failed: [ended('echo/b/wake')],
      }),
    );
    const now = agentsNow(
      [rowOf('a', 'running'), rowOf('b', 'idle'), rowOf('c', 'idle')],
      failures,
      'x',
    );
    expect(now.map(({ url, status }) => `${url} ${status}`)).toEqual([
      '/t/x/a/echo/a failing',
      '/t/x/a/echo/b failed',
      '/t/x/a/echo/c idle',
      '/t/x/a/echo/new failing',
    ]);
  });
});
