import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

/** One invalid field of a request body; `field` is its name, or empty for the body as a whole. */
export interface FieldError {
  field: string;
  message: string;
}

export interface GatewayErrorOptions {
  cause?: unknown;
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
  readonly headers: Record<string, string>;
  readonly errors: FieldError[] | undefined;

  constructor(code: ErrorCode, detail: string, options: GatewayErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = ERROR_CODES[code].status;
    this.headers = options.headers ?? {};
    this.errors = options.errors;
  }
}
