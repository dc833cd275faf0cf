import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Changes } from './changes.ts';
import { awaited } from './until.ts';

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
  const changes = new Changes();
  const onFailure = (message: unknown): void => {
    if ((message as ConnectMessage).connectParams.host !== host) return;
    failures.count += 1;
    changes.tell();
  };
  const failures: ConnectFailures = {
    count: 0,
    until: (count) =>
      awaited(
        () => `${count} failures to connect to ${host}, after ${failures.count}`,
        changes.until(() => failures.count >= count),
      ),
    stop: () => unsubscribe('undici:client:connectError', onFailure),
  };
  subscribe('undici:client:connectError', onFailure);
  return failures;
}
