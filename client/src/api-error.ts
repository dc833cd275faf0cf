/** One field of a request's body that the gateway refused. */
export interface FieldError {
  /** The field, by its path in the body. */
  field: string;
  message: string;
}

/** What is known of a failure. */
export interface APIErrorDetails {
  status?: number | undefined;
  code: string;
  /** Default: the message. */
  detail?: string;
  requestId?: string | undefined;
  errors?: readonly FieldError[] | undefined;
  retryAfterMs?: number | undefined;
  isSafeToRetry?: boolean;
  cause?: unknown;
}

/** A request that failed: the gateway or a server behind it refused it, or no answer came. */
export class APIError extends Error {
  override readonly name = 'APIError';
  /** The HTTP status; undefined where no answer came. */
  readonly status: number | undefined;
  /**
   * A stable name to switch on: a code of the gateway's own (docs/http-api.md, "Errors"), `connection_failed`, `timeout`,
   * `credential_unavailable`, `invalid_response` for an answer that cannot be used, `stream_unreadable`, or `http_<status>` for an error without a code.
   */
  readonly code: string;
  /** What the server said of it, or what went wrong, in a sentence. */
  readonly detail: string;
  /** The `X-Request-Id`; it stands in every log line about this request. */
  readonly requestId: string | undefined;
  /** The fields at fault, for `invalid_body`. */
  readonly errors: readonly FieldError[];
  /** How long the server asks to wait before another try, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether the same call, made again, cannot have its effect twice. */
  readonly isSafeToRetry: boolean;

  constructor(message: string, details: APIErrorDetails) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.detail = details.detail ?? message;
    this.requestId = details.requestId;
    this.errors = details.errors ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.isSafeToRetry = details.isSafeToRetry ?? false;
  }
}

/** What an error answer says. Servers behind the gateway answer in forms of their own, often plain text. */
export interface ErrorAnswer {
  status: number;
  headers: Pick<Headers, 'get'>;
  text: string;
}

/** Longer texts of a server are cut. */
const MAX_TEXT_LENGTH = 500;

/** Makes the error for an answer that is none of success. */
export function errorOfAnswer(answer: ErrorAnswer, isSafeToRetry: boolean): APIError {
  const { status, headers, text } = answer;
  const { code, detail, errors, message } = problemOf(text);
  const isProblem = typeof code === 'string' && typeof detail === 'string';
  const own = [detail, sentenceOf(message, errors), text.trim()].find(
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
    isSafeToRetry,
  });
}

/** Whether another try can bring something else. `isRenewable`: the credential may be another one then. */
export function isPassing({ status, code }: APIError, isRenewable: boolean): boolean {
  if (code === 'invalid_response') return false;
  if (status === 401) return isRenewable;
  return status === undefined || status >= 500 || status === 408 || status === 429;
}

/** What Restate and Electric say, which have no problem documents. */
function sentenceOf(message: unknown, errors: unknown): string | undefined {
  if (typeof message !== 'string') return undefined;
  return errors === undefined ? message : `${message}: ${JSON.stringify(errors)}`;
}

/** A problem document (RFC 9457), or nothing. */
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
