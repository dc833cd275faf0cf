/** Where the agents find the rest of the system. */
export interface GatewayAccess {
  /** For example `http://localhost:8787`. */
  gatewayUrl: string;
  apiKey: string;
  /** Default `<gatewayUrl>/streams`; a test without a gateway names the history store itself. */
  streamsUrl?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** An attempt that hangs blocks its entity. After this time it is broken off, and Restate retries. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Not the request's fault, so the same request is tried again until it works: a key that was
 * rotated (401), a gateway that is slow or sheds load (408, 425, 429).
 */
const TRANSIENT_STATUSES = new Set([401, 408, 425, 429]);

/**
 * One request to the system, for use in `ctx.run`.
 * @throws Error for faults that may pass by themselves (no connection, 5xx, the statuses above), so that Restate retries the step. Every other response is returned, because a retry would not change it.
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
    // Read to its end even where nobody looks at it, or the connection cannot be used again.
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

/** The answer in a few words, for an event or a log line. */
export function describe(answer: Answer): string {
  return `${answer.status} ${detailOf(answer.text)}`.trim();
}

/** The gateway's problems (RFC 9457) say in `detail` what was wrong; upstreams answer plain text. */
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
