/** The addresses of the rest of the system. */
export interface GatewayAccess {
  /** For example `http://localhost:8787`. */
  gatewayUrl: string;
  apiKey: string;
  /** Default `<gatewayUrl>/streams`. A test without a gateway uses the history store's URL. */
  streamsUrl?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** An attempt that hangs would block its entity. After this time it is aborted, and Restate retries. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Statuses that are not the request's fault, so the same request is retried until it works: a rotated key (401), a
 * gateway that is slow or overloaded (408, 425, 429).
 */
const TRANSIENT_STATUSES = new Set([401, 408, 425, 429]);

/**
 * One request to the system, for use in `ctx.run`. @throws Error for temporary failures (no connection, 5xx, the
 * statuses above), so that Restate retries the step. Every other response is returned, because a retry would not
 * change it.
 */
export async function request(
  url: string,
  init: RequestInit,
  attemptEnded: AbortSignal,
): Promise<Answer> {
  const { pathname } = new URL(url);
  const what = `${init.method ?? 'GET'} ${pathname}`;
  let answer: Answer;
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(REQUEST_TIMEOUT_MS), attemptEnded]);
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    // The body is always read to its end, or the connection could not be used again.
    const text = await response.text();
    answer = { status: response.status, headers: response.headers, text };
  } catch (cause) {
    throw new Error(`${what}: no answer`, { cause });
  }
  if (answer.status >= 500 || TRANSIENT_STATUSES.has(answer.status)) {
    throw new Error(`${what}: ${describe(answer)}`);
  }
  return answer;
}

/** A short description of the response for an event or a log line. */
export function describe(answer: Answer): string {
  return `${answer.status} ${detailOf(answer.text)}`.trim();
}

/** The gateway's problem documents (RFC 9457) explain the error in `detail`. Upstreams answer with plain text. */
function detailOf(text: string): string {
  const shortText = text.slice(0, 200);
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === 'object' && problem !== null && 'detail' in problem) {
      return String(problem.detail);
    }
  } catch {
    // Plain text.
  }
  return shortText;
}
