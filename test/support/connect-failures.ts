import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** What undici publishes. */
interface ConnectMessage {
  connectParams: { host: string };
}

export interface ConnectFailures {
  count: number;
  /** Resolves when there have been so many. */
  until(count: number): Promise<void>;
  stop(): void;
}

/** Counts the failed connection attempts of commands to this URL, by undici in this process. */
export function countConnectFailures(url: string): ConnectFailures {
  const { host } = new URL(url);
  const waiting = new Map<() => void, number>();
  const onFailure = (message: unknown): void => {
    if ((message as ConnectMessage).connectParams.host !== host) return;
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
