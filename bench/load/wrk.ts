import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_KEY } from '../contenders/contender.ts';
import { programPath } from '../programs.ts';

const SCRIPT = join(import.meta.dirname, 'reads.lua');

export interface ReadsLoad {
  /** Where the contender serves the streams. */
  url: string;
  connections: number;
  seconds: number;
  /** How many URLs are read in turn; 1 reads `path` alone. */
  distinctUrls: number;
  /** Of the one stream, with its query. */
  path?: string;
}

export interface ReadsResult {
  requestsPerSecond: number;
  requests: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests that were not answered as they should be; a result with any is none. */
  errors: number;
}

interface WrkSummary {
  requests: number;
  durationUs: number;
  p50Us: number;
  p99Us: number;
  badStatus: number;
  socketErrors: number;
  timeouts: number;
}

/** Has wrk read for a while, as fast as it is answered. */
export async function loadReads(load: ReadsLoad): Promise<ReadsResult> {
  const { origin, pathname } = new URL(load.url);
  const args = [
    '--threads=1',
    `--connections=${load.connections}`,
    `--duration=${load.seconds}s`,
    '--timeout=10s',
    `--script=${SCRIPT}`,
    origin,
    '--',
    String(load.distinctUrls),
    pathname,
  ];
  const { stdout } = await promisify(execFile)(programPath('wrk'), args, {
    env: { BENCH_API_KEY: API_KEY, BENCH_PATH: load.path ?? '' },
  });
  const line = /^BENCH (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk said nothing of use:\n${stdout}`);
  const summary = JSON.parse(line) as WrkSummary;
  return {
    requestsPerSecond: summary.requests / (summary.durationUs / 1e6),
    requests: summary.requests,
    p50Ms: summary.p50Us / 1000,
    p99Ms: summary.p99Us / 1000,
    errors: summary.badStatus + summary.socketErrors + summary.timeouts,
  };
}
