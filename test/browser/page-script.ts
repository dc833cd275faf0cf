// Runs in the browser; types are stripped on the way. The imports of the loops are those of the docs.
import { followCatalog } from '../support/follow-catalog.ts';
import { followTimeline } from '../support/follow-timeline.ts';
import { ReadToken } from '../support/read-token.ts';

/** A read that the page has begun, as the test can see it. */
export interface PageRead {
  seqs: number[];
  rows: Record<string, unknown>[];
  statuses: number[];
  minted: number;
  error: string | undefined;
  stop: () => void;
}

export interface ReadRequest {
  url: string;
  prefix: string;
  ttlSeconds: number;
  /** Of a timeline; absent for the catalog. */
  live?: 'long-poll' | 'sse';
}

/** How a `fetch` of page script went. */
export type Probe =
  | { status: number; type: string; headers: Record<string, string>; body: string }
  | { failed: string };

/** The part of `RequestInit` that travels to the page as JSON. */
export type ProbeInit = Pick<RequestInit, 'method' | 'cache' | 'credentials' | 'mode'> & {
  headers?: Record<string, string>;
  body?: string;
};

export interface PageApi {
  reads: Record<string, PageRead>;
  start: (name: string, request: ReadRequest) => void;
  probe: (url: string, init?: ProbeInit) => Promise<Probe>;
}

const BACKOFF = { initialDelay: 20, maxDelay: 200, multiplier: 1.5 };
const reads: Record<string, PageRead> = {};

function start(name: string, { url, prefix, ttlSeconds, live }: ReadRequest): void {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  const read: PageRead = { seqs: [], rows: [], statuses: [], minted: 0, error: undefined, stop };
  reads[name] = read;
  const token = new ReadToken(async () => {
    read.minted += 1;
    const body = JSON.stringify({ prefix, ttlSeconds });
    const response = await fetch('/token', { method: 'POST', body });
    return (await response.json()) as { token: string; ttlSeconds: number };
  }, 0);
  const watchedFetch: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    read.statuses.push(response.status);
    return response;
  };
  const common = { url, token, signal: stopped.signal, backoffOptions: BACKOFF };
  if (live) {
    followTimeline<{ seq: number }>({
      ...common,
      live,
      onEvents: (events) => void read.seqs.push(...events.map(({ seq }) => seq)),
      fetch: watchedFetch,
    }).catch((error: unknown) => (read.error = String(error)));
    return;
  }
  followCatalog({
    ...common,
    params: { table: 'entities' },
    onRows: (rows) => (read.rows = [...rows]),
    onStopped: (error) => (read.error = String(error)),
    fetchClient: watchedFetch,
  });
}

async function probe(url: string, init?: ProbeInit): Promise<Probe> {
  try {
    const response = await fetch(url, init);
    const { status, type } = response;
    const headers = Object.fromEntries(response.headers);
    return { status, type, headers, body: await response.text() };
  } catch (error) {
    return { failed: (error as Error).name };
  }
}

const api: PageApi = { reads, start, probe };
Object.assign(globalThis, { gatewayTest: api });
