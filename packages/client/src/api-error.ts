/** An invalid field of a request body. */
export interface FieldError {
  /** The path of the field in the body. */
  field: string;
  message: string;
}

/** The details of a failure. */
export interface APIErrorDetails {
  status?: number | undefined;
  code: string;
  /** The server's explanation. Default: the message. */
  detail?: string;
  requestId?: string | undefined;
  errors?: readonly FieldError[] | undefined;
  retryAfterMs?: number | undefined;
  isUndone?: boolean;
  isSafeToRetry?: boolean;
  cause?: unknown;
}

/** A failed request: the gateway or an upstream refused it, or there was no response. */
export class APIError extends Error {
  override readonly name: string = 'APIError';
  /** The HTTP status, or undefined if there was no response. */
  readonly status: number | undefined;
  /**
   * A stable code for programs: a code of the gateway (docs/http-api.md, "Errors"), or `http_<status>` for an error
   * without one. The client's own are `connection_failed`, `timeout`, `credential_unavailable`, `session_ended`,
   * `invalid_response`, `stream_unreadable` and `invalid_event`.
   */
  readonly code: string;
  /** The server's explanation, or a description of the failure, in one sentence. */
  readonly detail: string;
  /** The `X-Request-Id`, which every log line of the request contains. */
  readonly requestId: string | undefined;
  /** The invalid fields, for `invalid_body`. */
  readonly errors: readonly FieldError[];
  /** How long to wait before a retry, in milliseconds, if the server says so. */
  readonly retryAfterMs: number | undefined;
  /** Whether the call certainly had no effect: it was refused, or nothing of it was sent to an upstream. */
  readonly isUndone: boolean;
  /** Whether repeating the call is safe: its effect cannot happen twice. */
  readonly isSafeToRetry: boolean;

  constructor(message: string, details: APIErrorDetails) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.detail = details.detail ?? message;
    this.requestId = details.requestId;
    this.errors = details.errors ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.isUndone = details.isUndone ?? false;
    this.isSafeToRetry = details.isSafeToRetry ?? false;
  }
}

/** Reads an error response. Upstreams have their own forms, often plain text. */
export interface ErrorAnswer {
  status: number;
  headers: Pick<Headers, 'get'>;
  text: string;
}

/** The longest text of a server. Longer ones are cut. */
const MAX_TEXT_LENGTH = 500;

/** The gateway's errors for requests that it did not forward, among those with a status of 500 and above. */
const NOT_FORWARDED: ReadonlySet<unknown> = new Set(['draining', 'overloaded', 'keys_unavailable']);

/**
 * Creates the error for an unsuccessful response. `isIdempotent` means that the request has its effect once, however
 * often it arrives.
 */
export function errorOfAnswer(answer: ErrorAnswer, isIdempotent: boolean): APIError {
  const { status, headers, text } = answer;
  const { code, detail, errors, message, sent } = problemOf(text);
  const isProblem = typeof code === 'string' && typeof detail === 'string';
  const isUndone = status < 500 || (isProblem && (sent === false || NOT_FORWARDED.has(code)));
  const own = [detail, sentenceOf(message, errors), sentenceOfText(text)].find(
    (said) => typeof said === 'string',
  ) as string;
  const said = own.slice(0, MAX_TEXT_LENGTH);
  return new APIError(`${status} ${said}`.trim(), {
    status,
    detail: said,
    code: isProblem ? code : `http_${status}`,
    requestId: headers.get('x-request-id') ?? undefined,
    errors: Array.isArray(errors) ? (errors as FieldError[]) : [],
    retryAfterMs: retryAfterMs(headers.get('retry-after')),
    isUndone,
    isSafeToRetry: isIdempotent || isUndone,
  });
}

/** Whether a retry may succeed. `isRenewable`: the credential may be a new one then. */
export function isPassing({ status, code }: APIError, isRenewable: boolean): boolean {
  if (code === 'invalid_response' || code === 'session_ended') return false;
  if (status === 401) return isRenewable;
  return status === undefined || status >= 500 || status === 408 || status === 429;
}

/** Reads the errors of Restate and Electric, which are not problem documents. */
function sentenceOf(message: unknown, errors: unknown): string | undefined {
  if (typeof message !== 'string') return undefined;
  return errors === undefined ? message : `${message}: ${JSON.stringify(errors)}`;
}

/** The answer to HEAD has no text, and a proxy answers with a page. */
function sentenceOfText(text: string): string {
  const said = text.trim();
  if (said === '') return 'The server gave no reason.';
  return said.startsWith('<')
    ? 'A server between here and the gateway answered with a page.'
    : said;
}

/** A problem document (RFC 9457), or undefined. */
function problemOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3). */
function retryAfterMs(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
