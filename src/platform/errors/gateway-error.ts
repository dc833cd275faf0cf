import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

/** One invalid field of a request body. `field` is its name, or empty for the whole body. */
export interface FieldError {
  field: string;
  message: string;
}

/**
 * The reasons of refusals whose code has several, by what is refused. Only the log and the metrics show them; a client must
 * not learn more than it needs.
 */
export const ERROR_REASONS = {
  credential: [
    'malformed_header',
    'not_an_api_key',
    'unknown_credential',
    'signature',
    'claims',
    'not_yet_valid',
    'withdrawn',
  ],
  body: ['declared_length', 'counted_length', 'runtime', 'transfer_coding'],
  limit: [
    'connections',
    'open_reads',
    'open_reads_per_credential',
    'open_reads_per_subject',
    'open_commands',
    'requests_per_second',
    'memory',
    'runtime',
  ],
  read: ['slow_reader'],
} as const;
export type ErrorReason = (typeof ERROR_REASONS)[keyof typeof ERROR_REASONS][number];

/** Why Node refused a request before the gateway saw it: the code of its parser, or a timeout. */
export type ParserReason = `HPE_${string}` | 'ERR_HTTP_REQUEST_TIMEOUT';

export interface GatewayErrorOptions {
  cause?: unknown;
  reason?: ErrorReason;
  /** Response headers that belong to this failure, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** The invalid fields, for validation errors. */
  errors?: FieldError[];
  /** An upstream was tried, and nothing of the request reached it. */
  isUnsent?: boolean;
}

/**
 * Every error of the gateway. `detail` is sent to the client: it says what was wrong and what to send instead, and
 * never contains a credential, a stack or an internal address. `cause` is only logged.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly reason: ErrorReason | undefined;
  readonly headers: Record<string, string>;
  readonly errors: FieldError[] | undefined;
  readonly isUnsent: boolean;

  constructor(code: ErrorCode, detail: string, options: GatewayErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = ERROR_CODES[code].status;
    this.reason = options.reason;
    this.headers = options.headers ?? {};
    this.errors = options.errors;
    this.isUnsent = options.isUnsent ?? false;
  }
}

/** A bug of the gateway. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError(
    'internal_error',
    'The gateway failed to handle the request; its log has more under this request id.',
    { cause },
  );
}

/** A 503 for a request that is refused before any of it was forwarded. */
export function overloaded(reason: ErrorReason, what: string): GatewayError {
  return new GatewayError('overloaded', `${what}; try again in a moment.`, {
    reason,
    headers: { 'Retry-After': '1' },
  });
}
