// Runs in the browser; types are stripped on the way.
import { AgentGateway, type LiveState, type MintedToken } from '../../packages/client/src/index.ts';

/** A read that the page has begun, with the fields that the test can see. */
export interface PageRead {
  seqs: number[];
  rows: Record<string, unknown>[];
  statuses: number[];
  minted: number;
  error: string | undefined;
  /** The states of the read, in the order in which they were entered. */
  states: string[];
  stop: () => void;
}

export interface ReadRequest {
  url: string;
  prefix: string;
  ttlSeconds: number;
  /** Of a timeline; absent for the catalog. */
  live?: 'long-poll' | 'sse';
}

/** The outcome of a `fetch` of page script. */
export type Probe =
  | { status: number; type: string; headers: Record<string, string>; body: string }
  | { failed: string };

/** The part of `RequestInit` that can be sent to the page as JSON. */
export type ProbeInit = Pick<RequestInit, 'method' | 'cache' | 'credentials' | 'mode'> & {
  headers?: Record<string, string>;
  body?: string;
};

export interface PageApi {
  reads: Record<string, PageRead>;
  start: (name: string, request: ReadRequest) => void;
  probe: (url: string, init?: ProbeInit) => Promise<Probe>;
}

const reads: Record<string, PageRead> = {};

function start(name: string, { url, prefix, ttlSeconds, live }: ReadRequest): void {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  const read: PageRead = {
    seqs: [],
    rows: [],
    statuses: [],
    minted: 0,
    error: undefined,
    states: [],
    stop,
  };
  reads[name] = read;
  const { origin, pathname } = new URL(url);
  const gateway = new AgentGateway({
    url: origin,
    authCallback: async () => {
      read.minted += 1;
      const body = JSON.stringify({ prefix, ttlSeconds });
      const response = await fetch('/token', { method: 'POST', body });
      return (await response.json()) as MintedToken;
    },
    fetch: async (...args) => {
      const response = await fetch(...args);
      read.statuses.push(response.status);
      return response;
    },
  });
  const onState = (state: LiveState): void => void read.states.push(state.name);
  const options = { signal: stopped.signal, onState };
  const reading = live
    ? gateway
        .timeline(pathname, { ...options, live })
        .subscribe(({ seq }) => void read.seqs.push(seq))
    : gateway.catalog(options).subscribe((rows) => void (read.rows = [...rows]));
  reading.catch((error: unknown) => (read.error = String(error)));
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
