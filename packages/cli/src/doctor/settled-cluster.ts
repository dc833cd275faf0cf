import { setTimeout as sleep } from 'node:timers/promises';
import { APIError } from '../../../client/src/index.ts';

/** So often, and so long after each other, Restate is asked while its nodes take over from each other. That takes about 10 s. */
const MOST_TRIES = 11;
const PAUSE_MS = 1_000;

/**
 * How Restate says that a part of a query got no answer: a node is away, or has not taken over yet. A query that is wrong
 * in itself is an `Error during planning` instead.
 */
const CHANGING =
  /Datafusion error: (?!Error during planning)|connect throttled|No such scanner|expecting a partition store/i;

/** Some nodes of Restate are away, or take over from others, and it did not end within 10 s. */
export class ClusterIsChanging extends Error {}

/** Asks Restate until none of its nodes takes over from another. Rejects with `ClusterIsChanging` if it lasts. */
export async function onceSettled<T>(
  ask: () => Promise<T>,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!isOfChangingCluster(error)) throw error;
      if (tries === MOST_TRIES) throw new ClusterIsChanging('it lasts', { cause: error });
    }
    await pause(PAUSE_MS);
  }
}

function isOfChangingCluster(error: unknown): boolean {
  return error instanceof APIError && (error.status ?? 0) >= 500 && CHANGING.test(error.detail);
}
