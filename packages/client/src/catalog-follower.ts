import type { Row, ShapeStream, ShapeStreamOptions } from '@electric-sql/client';
import { APIError, isPassing } from './api-error.ts';
import { CatalogRequests } from './catalog-requests.ts';
import { readError } from './client-error.ts';
import { ForeignAnswers } from './foreign-answers.ts';
import type { StateTeller } from './live-state.ts';
import { pause, pauseMs } from './pause.ts';
import type { Transport } from './transport.ts';

/** Receives the messages of the protocol's client, and calls `gotAll` whenever all current rows have arrived. */
export type Consume<R extends Row> = (
  protocol: typeof import('@electric-sql/client'),
  stream: ShapeStream<R>,
  gotAll: () => void,
) => void;

export interface CatalogRead<R extends Row> {
  params: ShapeStreamOptions['params'];
  /** Whether to follow changes after all rows have been read. */
  isLive: boolean;
  isRenewable: boolean;
  /** Called again for each client that replaces a stopped one. */
  consume: Consume<R>;
  states: StateTeller;
  signal: AbortSignal;
}

/** As Chromium and Firefox, Safari, and webpack say that a module did not come. One that is broken or not installed has another error. */
const NOT_LOADED = /dynamically imported module|Importing a module script failed|ChunkLoadError/;

const BACKOFF = { initialDelay: 200, maxDelay: 5_000, multiplier: 2 };

const ALWAYS_VISIBLE = {
  getCurrentState: () => 'visible' as const,
  subscribe: () => () => undefined,
};

/** Reads the catalog until its end or until the signal aborts. Rejects with a final `APIError`. */
export async function followCatalog<R extends Row>(
  transport: Transport,
  read: CatalogRead<R>,
): Promise<void> {
  read.states.enter({ name: 'connecting' });
  const requests = new CatalogRequests(transport, read.states, read.isLive);
  const unwatch = requests.watch();
  try {
    // The client stops for good after 50 errors in a row, so a new one replaces it.
    let isDone = false;
    while (!isDone && !read.signal.aborted) isDone = await followOnce(transport, requests, read);
  } finally {
    unwatch();
  }
}

/** @returns whether all was read. False if the client stopped by itself or for the signal. */
async function followOnce<R extends Row>(
  transport: Transport,
  requests: CatalogRequests,
  { params, isLive, isRenewable, consume, states, signal }: CatalogRead<R>,
): Promise<boolean> {
  const protocol = await loadProtocol(states, signal);
  if (!protocol) return false;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const stopped = new AbortController();
  const foreign = new ForeignAnswers();
  let failures = 0;
  const wait = (error: unknown, retryInMs = pauseMs(++failures)): number => {
    states.enter({ name: 'waiting', error: readError(error), retryInMs });
    return retryInMs;
  };
  const failed = (error: unknown): void => {
    const failure = readError(error);
    // The client would retry an error of `fetch` forever.
    if (failure.status === undefined && !isPassing(failure, isRenewable)) reject(failure);
    else wait(failure);
  };
  const stream = new protocol.ShapeStream<R>({
    url: transport.urlOf('/shapes/v1/shape'),
    params,
    fetchClient: watched(requests.fetch, failed, signal),
    backoffOptions: BACKOFF,
    warnOnHttp: false,
    subscribe: isLive,
    // Its requests wait while the page is hidden.
    runtimeVisibility: ALWAYS_VISIBLE,
    signal: AbortSignal.any([signal, stopped.signal]),
    onError: async (error) => {
      const failure = isUnusable(error) ? noCatalog(error) : readError(error);
      if (signal.aborted) return undefined;
      if (!foreign.mayPass(failure) && !isPassing(failure, isRenewable)) {
        reject(failure);
        return undefined;
      }
      await pause(wait(failure), signal).catch(() => undefined);
      // Any object means: continue from the last offset. Without one the client stops.
      return signal.aborted ? undefined : {};
    },
  });
  consume(protocol, stream, () => {
    if (!isLive && stream.isUpToDate) resolve(true);
  });
  stream.subscribe(
    () => {
      failures = 0;
      foreign.forget();
      if (stream.isUpToDate) states.enter({ name: 'live' });
    },
    () => resolve(false),
  );
  signal.addEventListener('abort', () => resolve(false), { once: true });
  if (signal.aborted) resolve(false);
  return promise.finally(() => {
    stream.unsubscribeAll();
    stopped.abort();
  });
}

/** The protocol's client is loaded only when the catalog is read, and the network of a page may be away then. */
async function loadProtocol(
  states: StateTeller,
  signal: AbortSignal,
): Promise<typeof import('@electric-sql/client') | undefined> {
  for (let failures = 1; ; failures++) {
    try {
      return await import('@electric-sql/client');
    } catch (error) {
      if (!NOT_LOADED.test(String(error))) throw error;
      const retryInMs = pauseMs(failures);
      states.enter({ name: 'waiting', error: readError(error), retryInMs });
      await pause(retryInMs, signal).catch(() => undefined);
      if (signal.aborted) return undefined;
    }
  }
}

/** The client silently retries network errors, 429 and 5xx. This reports them. */
function watched(
  fetchNow: typeof fetch,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): typeof fetch {
  return async (input, init) => {
    try {
      const response = await fetchNow(input, init);
      if (response.status >= 500 || response.status === 429) {
        const { status, headers } = response;
        failed({ status, headers, text: await response.clone().text() });
      }
      return response;
    } catch (error) {
      if (!signal.aborted && init?.signal?.aborted !== true) failed(error);
      throw error;
    }
  };
}

/** The client does not export the class of this error, and never continues after it. */
function isUnusable(error: Error): boolean {
  return error.message.includes("didn't include the following required headers");
}

function noCatalog(cause: Error): APIError {
  return new APIError('The answer is no catalog: it has none of the headers of Electric.', {
    code: 'invalid_response',
    cause,
  });
}
