import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../contenders/gateway.ts';
import { loadReads, type LoadResult } from '../load/wrk.ts';
import { groupCpuMs } from '../measure/cpu-time.ts';
import { interleave } from '../measure/interleave.ts';
import type { Spread } from '../measure/statistics.ts';
import { summaryOf } from '../measure/summary.ts';
import { withStarted } from '../started.ts';
import { startNodeUpstream } from '../upstreams/node-upstream.ts';
import type { BenchContext } from './context.ts';

const SECRET = 'bench-read-token-secret-0123456789-0123456789';
const TTL_SECONDS = 3_600;
const CONNECTIONS = 64;
const DISTINCT_URLS = 20_000;
/** The number of tokens that the cache of verified tokens holds here at least. */
const OPEN_READS = 40_000;
/** Sent in turn; 0 stands for the API key. With the last each request brings a token that the cache has dropped. */
const TOKENS = [0, 1, 12_000, 40_000, 100_000];

/** The result of plain reads with this many different read tokens in turn. */
export interface TokensRow {
  /** 0: all with one API key. */
  tokens: number;
  requestsPerSecond: Spread;
  p50Ms: Spread;
  p99Ms: Spread;
  /** Processor time of the gateway, in microseconds a request. */
  cpuUsPerRequest: Spread;
  failure?: string;
}

export interface TokensTable {
  /** How many verified tokens the gateway keeps. */
  keptTokens: number;
  rows: TokensRow[];
}

/** Plain reads with read tokens, as browsers send them, from one token to more than the cache holds. */
export function measureTokens({ options, say }: BenchContext): Promise<TokensTable> {
  return withStarted(async (started) => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-tokens-'));
    started.add({ stop: () => rm(folder, { recursive: true }) });
    const upstream = started.add(await startNodeUpstream());
    const running = started.add(
      await startGateway({
        env: {
          GATEWAY_HISTORY_URL: upstream.streamsUrl,
          GATEWAY_READ_TOKEN_SECRETS: SECRET,
          GATEWAY_MAX_OPEN_READS: String(OPEN_READS),
        },
      }),
    );
    const kinds = await Promise.all(
      TOKENS.map(async (tokens) => ({
        id: String(tokens),
        tokens,
        tokensFile: tokens === 0 ? undefined : await writeTokens(folder, tokens),
      })),
    );
    type Kind = (typeof kinds)[number];
    const read = async ({ tokensFile }: Kind, seconds: number): Promise<Measured> => {
      const before = await groupCpuMs(running.pid);
      const result = await loadReads({
        url: running.url,
        connections: CONNECTIONS,
        seconds,
        distinctUrls: DISTINCT_URLS,
        tokensFile,
      });
      if (result.errors > 0) throw new Error(`${result.errors} reads went wrong`);
      const usedMs = (await groupCpuMs(running.pid)) - before;
      return { ...result, cpuUsPerRequest: (usedMs * 1000) / result.requests };
    };
    /** Brings the gateway to the state that it has when the same readers poll for hours. */
    const readTwiceWithEach = async (kind: Kind): Promise<void> => {
      const wanted = 2 * Math.min(kind.tokens, OPEN_READS);
      let { seconds } = options;
      for (;;) {
        const { requests, requestsPerSecond } = await read(kind, seconds);
        if (requests >= wanted) return;
        seconds = Math.ceil((1.2 * wanted) / requestsPerSecond);
      }
    };
    const series = await interleave(kinds, options.rounds, async (kind, round) => {
      if (options.warmUpRequests > 0) await readTwiceWithEach(kind);
      const result = await read(kind, options.seconds);
      const rate = Math.round(result.requestsPerSecond);
      say(`${kind.tokens} tokens, round ${round + 1}: ${rate}/s`);
      return result;
    });
    const rows = kinds.map(({ id, tokens }) => ({
      tokens,
      ...summaryOf(series.get(id), MEASURED),
    }));
    return { keptTokens: OPEN_READS, rows };
  });
}

const MEASURED = ['requestsPerSecond', 'p50Ms', 'p99Ms', 'cpuUsPerRequest'] as const;

type Measured = LoadResult & { cpuUsPerRequest: number };

/** Writes a file with one token in each line. */
async function writeTokens(folder: string, count: number): Promise<string> {
  const path = join(folder, String(count));
  const iat = Math.floor(Date.now() / 1000);
  const header = encode({ alg: 'HS256' });
  const lines = Array.from({ length: count }, (_, n) => {
    const claims = { aud: 'default', iat, exp: iat + TTL_SECONDS, prefix: '/streams/t/default/' };
    const signed = `${header}.${encode({ ...claims, sub: `reader-${count}-${n}` })}`;
    return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}\n`;
  });
  await writeFile(path, lines.join(''));
  return path;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
