import { join } from 'node:path';
import { rejectWhenEnded, startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { API_KEY } from '../contenders/contender.ts';
import { programPath } from '../programs.ts';

const SCRIPT = join(import.meta.dirname, 'follow.lua');
const EVENT_STREAM_MAIN = join(import.meta.dirname, 'event-stream-main.ts');
/** wrk needs a duration. The bench stops these readers long before it. */
const FOR_EVER = '1h';
const DELIVERY_TIMEOUT_MS = 60_000;

export interface FollowersOptions {
  /** Where the contender serves the streams. */
  url: string;
  streamPath: string;
  /** To wait for the first event at. */
  offset: string;
  readers: number;
  live: Live;
}

/** How a reader of the history store waits for new events. */
export type Live = 'long-poll' | 'sse';

/** Readers parked on one timeline, all in one process. */
export interface Followers {
  pid: number;
  /** How long event number `seq` took to each reader, in milliseconds, once all have it. */
  delivered(seq: number): Promise<number[]>;
  stop(): Promise<void>;
}

export function startFollowers(options: FollowersOptions): Followers {
  const others: string[] = [];
  const followers = startProcess({
    name: 'the load of readers',
    ...(options.live === 'sse' ? eventStreams(options) : longPolls(options)),
    env: { BENCH_API_KEY: API_KEY },
    readable: (line) => (line.startsWith('EVENT') ? undefined : line),
    onLine: (line) => {
      if (line.startsWith('OTHER')) others.push(line);
    },
  });
  return {
    pid: followers.pid,
    delivered: (seq) => delivered(followers, seq, others),
    stop: () => followers.kill(),
  };
}

interface Command {
  command: string;
  args: string[];
}

function longPolls({ url, streamPath, offset, readers }: FollowersOptions): Command {
  const { origin, pathname } = new URL(url);
  const load = ['--threads=1', `--connections=${readers}`, `--duration=${FOR_EVER}`];
  const script = [`--script=${SCRIPT}`, origin, '--'];
  const args = [pathname, streamPath, offset, String(readers)];
  return { command: programPath('wrk'), args: [...load, ...script, ...args] };
}

/** Event streams need a client of their own, because wrk waits for the end of each response. */
function eventStreams({ url, streamPath, offset, readers }: FollowersOptions): Command {
  const target = `${url}${streamPath}?offset=${offset}&live=sse`;
  return { command: process.execPath, args: [EVENT_STREAM_MAIN, target, String(readers)] };
}

async function delivered(load: RunningProcess, seq: number, others: string[]): Promise<number[]> {
  const prefix = `EVENT ${seq} `;
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const why = others[0] ?? 'no word why';
    timeout.reject(new Error(`event ${seq} has not reached all readers in a minute; ${why}`));
  }, DELIVERY_TIMEOUT_MS);
  try {
    const line = await Promise.race([
      load.waitForLine((text) => text.startsWith(prefix) || text.startsWith('GIVEN UP')),
      rejectWhenEnded(load),
      timeout.promise,
    ]);
    return line
      .slice(prefix.length)
      .split(',')
      .map((us) => Number(us) / 1000);
  } finally {
    clearTimeout(timer);
  }
}
