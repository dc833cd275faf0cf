import type { Row, ShapeStream, ShapeStreamOptions } from '@electric-sql/client';
import { APIError, isPassing } from './api-error.ts';
import { readError } from './client-error.ts';
import type { StateTeller } from './live-state.ts';
import { pause, pauseMs } from './pause.ts';
import { withStallGuard } from './stall-guard.ts';
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

/** The engine holds a long-poll for 20 s. */
const SILENCE_MS = 60_000;
const BACKOFF = { initialDelay: 200, maxDelay: 5_000, multiplier: 2 };

/** Reads the catalog until its end or until the signal aborts. Rejects with a final `APIError`. */
export async function followCatalog<R extends Row>(
  transport: Transport,
  read: CatalogRead<R>,
): Promise<void> {
  read.states.enter({ name: 'connecting' });
  // The client stops for good after 50 errors in a row, so a new one replaces it.
  let isDone = false;
  while (!isDone && !read.signal.aborted) isDone = await followOnce(transport, read);
}

/** @returns whether all was read. False if the client stopped by itself or for the signal. */
async function followOnce<R extends Row>(
  transport: Transport,
  { params, isLive, isRenewable, consume, states, signal }: CatalogRead<R>,
): Promise<boolean> {
  // It is loaded only when the catalog is read.
  const protocol = await import('@electric-sql/client');
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const stopped = new AbortController();
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
    fetchClient: watched(renewing(transport), failed, signal),
    backoffOptions: BACKOFF,
    warnOnHttp: false,
    subscribe: isLive,
    signal: AbortSignal.any([signal, stopped.signal]),
    onError: async (error) => {
      const failure = isUnusable(error) ? noCatalog(error) : readError(error);
      if (signal.aborted) return undefined;
      if (!isPassing(failure, isRenewable)) {
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

/**
 * A token that expires ends a long-poll with a 401. This repeats the long-poll with a new token before that, so that the
 * catalog stays live.
 */
function renewing(transport: Transport): typeof fetch {
  const fetchNow = withStallGuard(transport.fetch, SILENCE_MS);
  return async (input, init = {}) => {
    const isLongPoll = new URL(input as string).searchParams.get('live') === 'true';
    if (!isLongPoll) return fetchNow(input, init);
    for (;;) {
      const renewInMs = await transport.renewInMs(init.signal);
      if (renewInMs === undefined) return fetchNow(input, init);
      const over = new AbortController();
      const timer = setTimeout(() => over.abort(), renewInMs);
      const signals = init.signal ? [init.signal, over.signal] : [over.signal];
      try {
        return await fetchNow(input, { ...init, signal: AbortSignal.any(signals) });
      } catch (error) {
        if (!over.signal.aborted || init.signal?.aborted === true) throw error;
      } finally {
        clearTimeout(timer);
      }
    }
  };
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
