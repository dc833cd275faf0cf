import { describe, expect, it } from '@jest/globals';
import { errorOfAnswer } from '../../../client/src/api-error.ts';
import { ClusterIsChanging, onceSettled } from './settled-cluster.ts';

const restates = (message: string, status = 500): Error =>
  errorOfAnswer({ status, headers: new Headers(), text: JSON.stringify({ message }) }, true);

describe('onceSettled', () => {
  let pausesMs: number[];
  /** Asks something that fails so before it is answered. */
  function ask(...failures: Error[]): Promise<string> {
    pausesMs = [];
    const pause = (ms: number): Promise<void> => Promise.resolve(void pausesMs.push(ms));
    return onceSettled(async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'answer';
    }, pause);
  }

  // Each was printed as the fault of the agents, while nodes of a cluster came and went.
  it.each([
    'Datafusion error: External error: connect throttled; 2.446248052s left in throttling window',
    'Datafusion error: External error: node N2:1 was shut down or removed',
    'Datafusion error: Internal error: No such scanner 17. This was likely caused by a bug in DataFusion’s code. Please file a bug report',
    'expecting a partition store for partition 1',
  ])('asks again after %s', async (message) => {
    expect(await ask(restates(message), restates(message))).toBe('answer');
    expect(pausesMs).toEqual([1_000, 1_000]);
  });

  it('says that the cluster is changing when it has lasted for 10 s', async () => {
    const failures = Array.from({ length: 11 }, () =>
      restates('Datafusion error: External error: connect throttled'),
    );
    await expect(ask(...failures)).rejects.toBeInstanceOf(ClusterIsChanging);
    expect(pausesMs).toHaveLength(10);
  });

  it.each([
    ['a query that is wrong', restates('Datafusion error: Error during planning: no such table')],
    ['another fault', restates('no such thing')],
    ['a refusal', restates('Datafusion error: External error: x', 400)],
    ['what is none of Restate', new Error('Datafusion error: External error: x')],
  ])('does not ask again after %s', async (_, error) => {
    await expect(ask(error)).rejects.toBe(error);
    expect(pausesMs).toEqual([]);
  });
});
