import { APIError } from '../api-error.ts';

/** An answer that is no success, for the page. Its texts are written here and never come from elsewhere. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, detail: string, retryAfterSeconds?: number) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const UNAVAILABLE = 'The agents cannot be reached for now. Try again later.';

/** The errors of the gateway that a page can do something about. All others are faults that only the log may name. */
const PASSED: Record<string, readonly [status: number, detail: string]> = {
  entity_type_not_registered: [404, 'There is no agent of this type.'],
  invalid_idempotency_key: [400, 'The Idempotency-Key is 1 to 1,024 visible ASCII characters.'],
  runtime_rejected: [400, 'The agent does not take this command.'],
  body_too_large: [413, 'The body is longer than the gateway takes.'],
  rate_limited: [429, 'There are too many commands. Try again later.'],
  overloaded: [503, UNAVAILABLE],
  draining: [503, UNAVAILABLE],
};

/** The answer for a failed call of the gateway, and whether it is a fault that somebody should see. */
export function refusalOf(error: unknown): { refusal: Refusal; isFault: boolean } {
  if (error instanceof Refusal) return { refusal: error, isFault: false };
  if (!(error instanceof APIError)) {
    const detail = 'The back end of this page has a fault.';
    return { refusal: new Refusal(500, 'internal_error', detail), isFault: true };
  }
  const passed = Object.hasOwn(PASSED, error.code) ? PASSED[error.code] : undefined;
  if (!passed)
    return { refusal: new Refusal(502, 'gateway_unavailable', UNAVAILABLE), isFault: true };
  const [status, detail] = passed;
  const waitMs = status === 429 || status === 503 ? error.retryAfterMs : undefined;
  const retryAfter = waitMs === undefined ? undefined : Math.max(1, Math.ceil(waitMs / 1_000));
  return { refusal: new Refusal(status, error.code, detail, retryAfter), isFault: false };
}

/** A problem document (RFC 9457), which the client library reads as an error of the gateway. */
export function problemResponse({ status, code, message, retryAfterSeconds }: Refusal): Response {
  const headers = new Headers({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  });
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
  if (status === 405) headers.set('allow', 'POST');
  return new Response(JSON.stringify({ status, code, detail: message }), { status, headers });
}
