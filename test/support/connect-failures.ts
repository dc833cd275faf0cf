import { subscribe, unsubscribe } from 'node:diagnostics_channel';

export interface ConnectFailures {
  count: number;
  /** Resolves when there have been so many. */
  until(count: number): Promise<void>;
  stop(): void;
}

/** Counts failed connection attempts of undici in this process: those of commands and of `fetch`. */
export function countConnectFailures(): ConnectFailures {
  const waiting = new Map<() => void, number>();
  const onFailure = (): void => {
    failures.count += 1;
    for (const [resolve, count] of waiting) if (failures.count >= count) resolve();
  };
  const failures: ConnectFailures = {
    count: 0,
    until: (count) =>
      new Promise((resolve) => {
        if (failures.count >= count) resolve();
        else waiting.set(resolve, count);
      }),
    stop: () => unsubscribe('undici:client:connectError', onFailure),
  };
  subscribe('undici:client:connectError', onFailure);
  return failures;
}
