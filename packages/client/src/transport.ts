import { APIError, errorOfAnswer, isPassing } from './api-error.ts';
import type { Credential } from './credential.ts';
import { ForeignAnswers } from './foreign-answers.ts';
import { checkedPath } from './path.ts';
import { pause, pauseMs } from './pause.ts';
import type { ReadScope } from './read-scope.ts';

/** Options of a single call. */
export interface RequestOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  signal?: AbortSignal;
  /**
   * How long one attempt may take, in milliseconds. Default 20,000: longer than the gateway waits for an upstream.
   */
  timeoutMs?: number;
  /**
   * How long to retry after failures, if that is safe, in milliseconds since the beginning of the call. No retry begins
   * later. Default 90,000 for commands, which is longer than the restart of any part of the system, and 5,000 for other
   * calls. 0 means one attempt.
   */
  retryForMs?: number;
  /** Called before each retry, with the error and the time to wait. Returns false to give up instead. */
  onRetry?: (error: APIError, retryInMs: number) => boolean | void;
}

export interface TransportOptions extends Pick<RequestOptions, 'timeoutMs' | 'retryForMs'> {
  /** Without a slash at its end. */
  url: string;
  credential: Credential;
  fetch: typeof fetch;
  /** What the page reads, if its tokens are for that. */
  scope?: ReadScope | undefined;
  /** Whether a 401 is that of the page's own session, whoever answers it, so that it is final. */
  hasSession?: boolean;
}

interface Call extends RequestOptions {
  method: string;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: BodyInit;
  /** The request has its effect once, however often it arrives. */
  isIdempotent: boolean;
  /** `retryForMs` unless the caller has set it. */
  usualRetryForMs?: number;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

const DEFAULT_TIMEOUT_MS = 20_000;
const DEFAULT_RETRY_FOR_MS = 5_000;

/** Sends requests to one gateway, and the credential to no other server. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** The only place where an address is made. Throws a TypeError for a path that leads elsewhere. */
  urlOf(path: string, query: Record<string, string> = {}): string {
    const search = new URLSearchParams(query).toString();
    return `${this.#options.url}${checkedPath(path)}${search && `?${search}`}`;
  }

  /** Resolves with a successful response. Rejects with an `APIError`, or with the reason of the caller's signal. */
  async request(call: Call): Promise<Answer> {
    const { usualRetryForMs = DEFAULT_RETRY_FOR_MS } = call;
    const retryForMs = call.retryForMs ?? this.#options.retryForMs ?? usualRetryForMs;
    const lastAtMs = performance.now() + retryForMs;
    const foreign = new ForeignAnswers();
    for (let tries = 1; ; tries++) {
      const result = await this.#try(call);
      if (!(result instanceof APIError)) return result;
      const { isRenewable } = this.#options.credential;
      const isForeign = foreign.mayPass(result) && call.isIdempotent && !this.#isOfSession(result);
      const isFinal = !result.isSafeToRetry || !(isForeign || isPassing(result, isRenewable));
      const retryInMs = pauseMs(tries, result.retryAfterMs);
      if (isFinal || performance.now() + retryInMs > lastAtMs) throw result;
      if (call.onRetry?.(result, retryInMs) === false) throw result;
      await pause(retryInMs, call.signal);
    }
  }

  #isOfSession({ status }: APIError): boolean {
    return status === 401 && this.#options.hasSession === true;
  }

  /** Ensures a valid token, and says in how many milliseconds it is renewed. Undefined if it never is. */
  async renewInMs(signal: AbortSignal | null | undefined): Promise<number | undefined> {
    const { credential } = this.#options;
    await untilAborted(credential.authorization(), signal);
    return credential.renewInMs;
  }

  /** The next request asks for another token, because the present request for one may hang on a dead connection. */
  forgetPendingToken(): void {
    this.#options.credential.forgetPending();
  }

  /** `fetch` with the credential, for the protocols' clients. It follows no redirect. */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const { credential } = this.#options;
    const authorization = await this.#authorizationFor(input, init.signal);
    const response = await this.#fetchWith(authorization, input, init);
    // An agent that is newer than the token is in none of its prefixes, and the next token may have it.
    const isFromCallback = credential.renewInMs !== undefined;
    if (response.status !== 403 || !isFromCallback || !(await isNotCovered(response))) {
      return response;
    }
    credential.refused(authorization);
    const next = await untilAborted(credential.authorization(), init.signal);
    return next === authorization ? response : this.#fetchWith(next, input, init);
  };

  /** A token for the read, also if the present one was asked for before the page read this. */
  async #authorizationFor(
    input: Parameters<typeof fetch>[0],
    signal: AbortSignal | null | undefined,
  ): Promise<string | undefined> {
    const { credential, scope, url } = this.#options;
    const path = scope && (input as string).slice(url.length).replace(/\?.*/, '');
    if (path !== undefined) scope?.see(path);
    const authorization = await untilAborted(credential.authorization(), signal);
    if (path === undefined || scope?.wasAskedFor(path) === true) return authorization;
    credential.refused(authorization);
    return untilAborted(credential.authorization(), signal);
  }

  async #fetchWith(
    authorization: string | undefined,
    input: Parameters<typeof fetch>[0],
    init: RequestInit,
  ): Promise<Response> {
    const headers = new Headers(init.headers);
    if (authorization !== undefined) headers.set('authorization', authorization);
    const response = await this.#options.fetch(input, { ...init, headers, redirect: 'manual' });
    if (response.status === 401) this.#options.credential.refused(authorization);
    const isRedirect = response.status >= 300 && response.status < 400 && response.status !== 304;
    if (isRedirect || response.type === 'opaqueredirect') {
      await response.body?.cancel();
      const location = response.headers.get('location') ?? 'another place';
      const message = `The address answers with a redirect to ${location}. No agent gateway does.`;
      throw new APIError(message, { status: response.status, code: 'invalid_response' });
    }
    return response;
  }

  async #try(call: Call): Promise<Answer | APIError> {
    const { method, path, query, headers, body, signal, timeoutMs, isIdempotent } = call;
    const url = this.urlOf(path, query);
    const timeout = AbortSignal.timeout(timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signals = signal ? [signal, timeout] : [timeout];
    try {
      const response = await this.fetch(url, {
        method,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
        signal: AbortSignal.any(signals),
      });
      const text = await response.text();
      const { status } = response;
      return response.ok
        ? { status, headers: response.headers, text }
        : errorOfAnswer({ status, headers: response.headers, text }, isIdempotent);
    } catch (error) {
      signal?.throwIfAborted();
      return error instanceof APIError ? error : noAnswer(error, timeout.aborted, isIdempotent);
    }
  }
}

/** Whether the token opens other paths. */
async function isNotCovered(response: Response): Promise<boolean> {
  const { status, headers } = response;
  const text = await response.clone().text();
  return errorOfAnswer({ status, headers, text }, true).code === 'prefix_not_covered';
}

/** The JSON object of a response. Throws an `APIError` if it is not one. */
export function parseAnswer(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    throw new APIError('The answer is no JSON: is this the address of an agent gateway?', {
      code: 'invalid_response',
    });
  }
}

/** Rejects with the signal's reason when it aborts, because a callback may never settle. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The error for a missing or incomplete response. */
export function noAnswer(cause: unknown, isTimeout: boolean, isSafeToRetry: boolean): APIError {
  const [code, message] = isTimeout
    ? ['timeout', 'No answer came in time.']
    : ['connection_failed', `The gateway cannot be reached: ${innermostMessage(cause)}.`];
  return new APIError(message, { code, isSafeToRetry, cause });
}

/** `fetch` stores the reason in `cause`, and for a name with several addresses in `errors`. */
function innermostMessage(error: unknown): string {
  const { cause, errors } = (error ?? {}) as { cause?: unknown; errors?: unknown[] };
  const inner = cause ?? errors?.[0];
  if (inner !== undefined) return innermostMessage(inner);
  return error instanceof Error ? error.message || error.name : String(error);
}
