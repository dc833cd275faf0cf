import { describe, expect, it } from '@jest/globals';
import type { EntityRow, Invocation } from '../../../packages/client/src/index.ts';
import { failuresOf as agentFailures } from '../../../packages/client/src/failures.ts';
import { failuresOf, listed, statusesOf, withUnlisted, type Failure } from './agent-list.ts';

const row = (id: string, more: Partial<EntityRow> = {}): EntityRow => ({
  url: `/t/default/a/echo/${id}`,
  type: 'echo',
  id,
  status: 'idle',
  parent: null,
  tenant: 'default',
  created_at: `2026-01-01T00:00:0${id.length}Z`,
  updated_at: '2026-01-01T00:00:00Z',
  ...more,
});
const child = (id: string, parent: string): EntityRow =>
  row(id, { parent: `/t/default/a/echo/${parent}` });
const invocation = (target: string, more: Partial<Invocation> = {}): Invocation => ({
  id: 'inv_1',
  target,
  status: 'backing-off',
  createdAt: '2026-01-01T00:00:00Z',
  tries: 3,
  lastFailure: 'no model\n  at f',
  nextTryAt: undefined,
  invokedBy: undefined,
  deploymentId: undefined,
  ...more,
});
const failure: Failure = { reason: 'no', tries: 92, since: undefined, nextTryAt: undefined };
const ALL = { text: '', type: '', status: '', sort: 'failing' };
const linesOf = (
  rows: EntityRow[],
  query: Partial<typeof ALL> = {},
  failures = new Map<string, Failure>(),
): string[] =>
  listed(rows, failures, { ...ALL, ...query }).map(
    ({ row: { id }, depth, status }) => `${'-'.repeat(depth)}${id} ${status}`,
  );

describe('the list of agents', () => {
  it('has children under their parents, newest first, and equal ones in a fixed order', () => {
    const rows = [row('b'), row('a'), row('ccc'), child('dd', 'a'), child('e', 'dd')];
    expect(linesOf(rows)).toEqual(['ccc idle', 'a idle', '-dd idle', '--e idle', 'b idle']);
    expect(linesOf(rows.toReversed())).toEqual(linesOf(rows));
  });

  /** Before, an agent that had thrown 92 times was green and running in the list. */
  it('has those first that fail, and those with a child that fails, whatever their rows say', () => {
    const rows = [row('zzz'), row('a', { status: 'running' }), child('e', 'a')];
    const failures = new Map([['#/echo/e', failure]]);
    expect(linesOf(rows, {}, failures)).toEqual(['a running', '-e failing', 'zzz idle']);
    expect(linesOf(rows, { sort: 'newest' }, failures)).toEqual([
      'zzz idle',
      'a running',
      '-e failing',
    ]);
    expect(linesOf(rows, { status: 'failing' }, failures)).toEqual(['e failing']);
  });

  it('has those first whose last turn failed for good, and none that waits for a person', () => {
    const rows = [
      row('asks', { status: 'waiting' }),
      row('b'),
      row('a', { status: 'failed' }),
      child('e', 'b'),
    ];
    expect(linesOf(rows)).toEqual(['a failed', 'asks waiting', 'b idle', '-e idle']);
    expect(linesOf(rows, { status: 'waiting' })).toEqual(['asks waiting']);
    const all = listed(rows, new Map(), ALL);
    expect([...statusesOf(all)].filter(([, count]) => count > 0)).toEqual([
      ['failed', 1],
      ['waiting', 1],
      ['idle', 2],
    ]);
  });

  it('is filtered by text and type, and ordered by id or activity', () => {
    const rows = [row('b', { updated_at: '2026-01-02T00:00:00Z' }), row('ab', { type: 'x' })];
    expect(linesOf(rows, { text: 'X/A' })).toEqual(['ab idle']);
    expect(linesOf(rows, { type: 'echo' })).toEqual(['b idle']);
    expect(linesOf(rows, { sort: 'id' })).toEqual(['ab idle', 'b idle']);
    expect(linesOf(rows, { sort: 'activity' })).toEqual(['b idle', 'ab idle']);
  });

  it('has every agent once, even those that are their own ancestors', () => {
    expect(linesOf([child('a', 'b'), child('b', 'a'), child('c', 'c')]).sort()).toEqual([
      'a idle',
      'b idle',
      'c idle',
    ]);
  });
});

const failuresIn = (invocations: Invocation[]) =>
  failuresOf(
    agentFailures({
      failing: invocations,
      stored: new Map(),
      failed: [],
      good: new Map(),
      rows: [],
    }),
  );

describe('what fails in the runtime', () => {
  it('belongs to the agent, also if it is a turn or a row of it', () => {
    const failing = failuresIn([
      invocation('echo/a/wake'),
      invocation('assistantTurn/run', { invokedBy: 'assistant/b/wake', tries: 92 }),
      invocation('catalogRow/x/put', { invokedBy: 'assistant/b/wake' }),
      invocation('counter/c/add'),
    ]);
    expect([...failing].map(([agent, { tries }]) => [agent, tries])).toEqual([
      ['#/echo/a', 3],
      ['#/assistant/b', 92],
    ]);
  });

  it('is listed even if the agent has never written a row', () => {
    const rows = withUnlisted([row('a')], failuresIn([invocation('echo/new/wake')]), 'default');
    expect(rows.map(({ url, status }) => [url, status])).toEqual([
      ['/t/default/a/echo/a', 'idle'],
      ['/t/default/a/echo/new', 'failing'],
    ]);
  });
});
