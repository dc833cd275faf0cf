import { describe, expect, it } from '@jest/globals';
import type { Invocation } from '../../../packages/client/src/index.ts';
import { Cancels } from './cancels.ts';

const invocation = (id: string, tries = 3): Invocation => ({
  id,
  target: 'boom/b1/wake',
  status: 'backing-off',
  createdAt: '2026-11-25T03:00:00Z',
  tries,
  lastFailure: 'Error: boom',
  nextTryAt: undefined,
  invokedBy: undefined,
  deploymentId: undefined,
});

describe('the cancels of a page', () => {
  it('tell once which have ended', () => {
    const cancels = new Cancels();
    cancels.add(invocation('inv_1'));
    cancels.add(invocation('inv_2'));

    expect(cancels.takeEnded([invocation('inv_1'), invocation('inv_2')])).toEqual([]);
    expect(cancels.takeEnded([invocation('inv_2')])).toEqual([invocation('inv_1')]);
    expect(cancels.takeEnded([invocation('inv_2')])).toEqual([]);
    expect([cancels.has('inv_1'), cancels.has('inv_2')]).toEqual([false, true]);
  });

  // The page said of an invocation that it had ended as soon as another agent was opened.
  it('say of none that it has ended when the list shows another agent', () => {
    const cancels = new Cancels();
    cancels.add(invocation('inv_1'));
    cancels.forget();

    expect(cancels.takeEnded([invocation('inv_2')])).toEqual([]);
  });

  it.each([
    [3, false],
    [4, false],
    [5, true],
  ])('are unnoticed after another whole attempt: %d tries', (tries, isUnnoticed) => {
    const cancels = new Cancels();
    cancels.add(invocation('inv_1', 3));

    expect(cancels.isUnnoticed({ id: 'inv_1', tries })).toBe(isUnnoticed);
    expect(cancels.isUnnoticed({ id: 'inv_2', tries })).toBe(false);
  });
});
