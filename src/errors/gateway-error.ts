import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

/** One invalid field of a request body; `field` is its name, or empty for the body as a whole. */
export interface FieldError {
  field: string;
  message: string;
}

/**
 * Why a request was refused, where its code is that of several reasons. For the log and the metrics
 * alone: a client learns no more than it needs to.
 */
export type ErrorReason =
  | 'malformed_header'
  | 'not_an_api_key'
  | 'unknown_credential'
  | 'signature'
  | 'claims'
  | 'withdrawn'
  | 'declared_length'
  | 'counted_length'
  | 'transfer_coding'
  | 'connections'
  | 'open_reads'
  | 'open_reads_per_credential'
  | 'requests_per_second'
  | 'memory'
  | 'connecting'
  | 'slow_reader'
  | 'runtime';

/** Why Node refused a request before the gateway had it: the code of its parser, or that it did not come in time. */
export type ParserReason = `HPE_${string}` | 'ERR_HTTP_REQUEST_TIMEOUT';

export interface GatewayErrorOptions {
  cause?: unknown;
  reason?: ErrorReason;
  /** Response headers that belong to this failure, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** Field by field, for validation failures. */
  errors?: FieldError[];
}

/**
 * Every failure of the gateway's own. `detail` goes to the client: it says what was wrong and what
 * to send instead, and never holds a credential, a stack or an internal address; `cause` goes to
 * the log only.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly reason: ErrorReason | undefined;
  readonly headers: Record<string, string>;
  readonly errors: FieldError[] | undefined;

  constructor(code: ErrorCode, detail: string, options: GatewayErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = ERROR_CODES[code].status;
    this.reason = options.reason;
    this.headers = options.headers ?? {};
    this.errors = options.errors;
  }
}

/** A fault of the gateway's own. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError(
    'internal_error',
    'The gateway failed to handle the request; its log has more under this request id.',
    { cause },
  );
}

/** A 503 for work that is turned away before anything of it was sent on. */
export function overloaded(reason: ErrorReason, what: string): GatewayError {
  return new GatewayError('overloaded', `${what}; try again in a moment.`, {
    reason,
    headers: { 'Retry-After': '1' },
  });
}
