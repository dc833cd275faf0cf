import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_KEY } from '../contenders/contender.ts';
import { programPath } from '../programs.ts';

/** wrk takes only one script, so the script with the summary loads the script with the requests. */
const SUMMARY_SCRIPT = join(import.meta.dirname, 'summary.lua');

export interface Load {
  /** In this folder: what is asked. */
  script: string;
  /** Of the script. */
  args: readonly string[];
  origin: string;
  connections: number;
  seconds: number;
  /** A file with a read token in each line, to be sent in turn; the API key without it. */
  tokensFile?: string;
}

export interface LoadResult {
  requestsPerSecond: number;
  requests: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests that were not answered as they should be. */
  errors: number;
}

/** Runs wrk for a given time. It sends each request as soon as it has the response to the one before. */
export async function runWrk(load: Load): Promise<LoadResult> {
  const args = [
    '--threads=1',
    `--connections=${load.connections}`,
    `--duration=${load.seconds}s`,
    '--timeout=10s',
    `--script=${SUMMARY_SCRIPT}`,
    load.origin,
    '--',
    ...load.args,
  ];
  const { stdout } = await promisify(execFile)(programPath('wrk'), args, {
    env: {
      BENCH_API_KEY: API_KEY,
      BENCH_SCRIPT: join(import.meta.dirname, load.script),
      BENCH_MOST_REQUESTS: process.env.BENCH_MOST_REQUESTS,
      ...(load.tokensFile !== undefined && { BENCH_TOKENS: load.tokensFile }),
    },
  });
  const line = /^BENCH (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk said nothing of use:\n${stdout}`);
  const summary = JSON.parse(line) as Summary;
  return {
    requestsPerSecond: summary.requests / (summary.durationUs / 1e6),
    requests: summary.requests,
    p50Ms: summary.p50Us / 1000,
    p99Ms: summary.p99Us / 1000,
    errors: summary.errors,
  };
}

interface Summary {
  requests: number;
  durationUs: number;
  p50Us: number;
  p99Us: number;
  errors: number;
}

export interface ReadsLoad {
  /** Where the contender serves the streams. */
  url: string;
  connections: number;
  seconds: number;
  /** How many URLs are read in turn; 1 reads `path` alone. */
  distinctUrls: number;
  /** Of the one stream, with its query. */
  path?: string;
  /** See `Load`. */
  tokensFile?: string | undefined;
}

export function loadReads(load: ReadsLoad): Promise<LoadResult> {
  const { origin, pathname } = new URL(load.url);
  const { connections, seconds, tokensFile } = load;
  const args = [String(load.distinctUrls), pathname, load.path ?? ''];
  return runWrk({
    script: 'reads.lua',
    args,
    origin,
    connections,
    seconds,
    ...(tokensFile !== undefined && { tokensFile }),
  });
}
