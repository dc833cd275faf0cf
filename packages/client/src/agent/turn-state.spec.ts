import { describe, expect, it } from '@jest/globals';
import type { Entity } from './entity.ts';
import { newTimeline } from './timeline.ts';
import { applyVerb, beginNext, takeTurn, turnTaker, type TurnTaker } from './turn-state.ts';

const BASE: Entity = {
  url: '/t/default/a/writer/w1',
  status: 'running',
  parent: null,
  createdAt: '2026-11-01T00:00:00.000Z',
  timeline: newTimeline('/t/default/agents/writer/w1/timeline'),
};

const turn = (id: string, seq: number) => ({ id, seq });

function agent(more: Partial<TurnTaker> = {}): TurnTaker {
  return turnTaker({ ...structuredClone(BASE), ...more } as Entity);
}

describe('the state of an agent', () => {
  it('is read as version 0.2.0 wrote it', () => {
    const written = {
      ...BASE,
      inbox: [5, 6],
      newest: 3,
      turn: { replyTo: 4, index: 7, invocationId: 'inv_1run', isHeld: true },
    };
    expect(turnTaker(written as unknown as Entity)).toMatchObject({
      inbox: [turn('5', 5), turn('6', 6)],
      newest: 3,
      turn: { id: '4', seq: 4, index: 7, calls: 0, run: 'inv_1run', isHeld: true },
    });
    expect(turnTaker({ ...BASE } as Entity)).toMatchObject({ inbox: [], newest: 0 });
  });

  it('has one turn under way, the oldest that waits', () => {
    const self = agent({ inbox: [turn('a', 1), turn('b', 2)] });
    expect([beginNext(self), self.turn?.id, self.status]).toEqual([true, 'a', 'running']);
    expect([beginNext(self), self.inbox.length]).toEqual([false, 1]);
  });

  it('gives up one turn by its name, and no other', () => {
    const self = agent({ inbox: [turn('b', 2), turn('c', 3)] });
    self.turn = { ...turn('a', 1), index: 0, calls: 0 };
    expect(takeTurn(self, ({ id }) => id === 'b')?.seq).toBe(2);
    expect(takeTurn(self, ({ id }) => id === 'b')).toBeUndefined();
    expect(takeTurn(self, ({ id }) => id === 'a')?.seq).toBe(1);
    expect([self.turn, self.inbox]).toEqual([undefined, [turn('c', 3)]]);
  });

  it.each([
    ['interrupt', ['a'], 'running'],
    ['archive', ['a', 'b'], 'archived'],
    ['pause', [], 'paused'],
    ['resume', [], 'running'],
  ] as const)('after %s has stopped %j and is %s', (verb, stopped, status) => {
    const self = agent({ inbox: [turn('b', 2)] });
    self.turn = { ...turn('a', 1), index: 0, calls: 0 };
    const turns = applyVerb(self, verb);
    expect([turns.map(({ id }) => id), self.status]).toEqual([stopped, status]);
  });

  it('stays failed until the next good reply', () => {
    const self = agent({ hasFailed: true });
    beginNext(self);
    expect(self.status).toBe('failed');
  });
});
