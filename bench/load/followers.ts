import { join } from 'node:path';
import { rejectWhenEnded, startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { API_KEY } from '../contenders/contender.ts';
import { programPath } from '../programs.ts';

const SCRIPT = join(import.meta.dirname, 'follow.lua');
/** wrk wants an end; these are stopped. */
const FOR_EVER = '1h';
const DELIVERY_TIMEOUT_MS = 60_000;

export interface FollowersOptions {
  /** Where the contender serves the streams. */
  url: string;
  streamPath: string;
  /** To wait for the first event at. */
  offset: string;
  readers: number;
}

/** Readers parked on one timeline, all in one wrk. */
export interface Followers {
  pid: number;
  /** How long event number `seq` took to each reader, in milliseconds, once all have it. */
  delivered(seq: number): Promise<number[]>;
  stop(): Promise<void>;
}

export function startFollowers(options: FollowersOptions): Followers {
  const { origin, pathname } = new URL(options.url);
  const others: string[] = [];
  const wrk = startProcess({
    name: 'wrk',
    command: programPath('wrk'),
    args: [
      '--threads=1',
      `--connections=${options.readers}`,
      `--duration=${FOR_EVER}`,
      `--script=${SCRIPT}`,
      origin,
      '--',
      pathname,
      options.streamPath,
      options.offset,
      String(options.readers),
    ],
    env: { BENCH_API_KEY: API_KEY },
    readable: (line) => (line.startsWith('EVENT') ? undefined : line),
    onLine: (line) => {
      if (line.startsWith('OTHER')) others.push(line);
    },
  });
  return {
    pid: wrk.pid,
    delivered: (seq) => delivered(wrk, seq, others),
    stop: () => wrk.kill(),
  };
}

async function delivered(wrk: RunningProcess, seq: number, others: string[]): Promise<number[]> {
  const prefix = `EVENT ${seq} `;
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const why = others.length > 0 ? `answers that were none: ${others.join('; ')}` : 'no word why';
    timeout.reject(new Error(`event ${seq} has not reached all readers in a minute; ${why}`));
  }, DELIVERY_TIMEOUT_MS);
  try {
    const line = await Promise.race([
      wrk.waitForLine((text) => text.startsWith(prefix) || text.startsWith('GIVEN UP')),
      rejectWhenEnded(wrk),
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
