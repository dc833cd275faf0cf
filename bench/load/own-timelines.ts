import { Agent, get } from 'node:http';
import { AUTHORIZED } from '../contenders/contender.ts';

export interface OwnTimelinesOptions {
  /** Where the gateway serves the streams. */
  url: string;
  streamPaths: readonly string[];
  /** Where the first event of each stream will be. */
  offset: string;
}

/** Readers that wait by long-poll. Each reads a timeline of its own. */
export interface OwnTimelines {
  /** Fulfils when every reader has got this many events in all. Rejects when a read fails. */
  received(events: number): Promise<void>;
  stop(): void;
}

/** Starts one reader for each stream, in this process, each with its own connection. */
export function followOwnTimelines({
  url,
  streamPaths,
  offset,
}: OwnTimelinesOptions): OwnTimelines {
  const agent = new Agent({ keepAlive: true });
  const failed = Promise.withResolvers<never>();
  // A failure that nobody waits for yet goes to the next waiter.
  failed.promise.catch(() => undefined);
  let received = 0;
  let isStopped = false;
  let onReceived = (): void => undefined;

  const follow = async (streamUrl: string): Promise<void> => {
    let next = offset;
    while (!isStopped) {
      next = await readNext(agent, `${streamUrl}?offset=${next}&live=long-poll`);
      received++;
      onReceived();
    }
  };
  for (const path of streamPaths) {
    follow(url + path).catch((error: unknown) => {
      if (!isStopped) failed.reject(error);
    });
  }
  return {
    received: (events) => {
      const all = Promise.withResolvers<void>();
      onReceived = () => {
        if (received >= events * streamPaths.length) all.resolve();
      };
      onReceived();
      return Promise.race([all.promise, failed.promise]);
    },
    stop: () => {
      isStopped = true;
      agent.destroy();
    },
  };
}

/** Reads once and returns the offset of the next read. */
function readNext(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: AUTHORIZED }, (response) => {
      const { statusCode, headers } = response;
      const next = headers['stream-next-offset'];
      response.resume();
      response.on('error', reject);
      response.on('end', () => {
        if (statusCode === 200 && typeof next === 'string') resolve(next);
        else reject(new Error(`a reader of its own timeline got ${statusCode}`));
      });
    });
    request.on('error', reject);
  });
}
