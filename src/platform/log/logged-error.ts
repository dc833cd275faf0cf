import { types } from 'node:util';

export interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError;
  /** The errors of an AggregateError, such as one for each address of a host. */
  errors?: LoggedError[];
}

/** The most causes that are followed. An error may even be its own cause. */
const MAX_DEPTH = 5;

/** Replaces the message of a SyntaxError, which quotes the input of `JSON.parse`. */
const UNQUOTED = 'the text cannot be parsed';

/**
 * The parts of an error that are logged. Its other properties are left out: a parser's error holds the bytes that
 * it could not parse (`rawPacket`, `data`), a token's error the claims (`payload`), a URL's error the URL
 * (`input`).
 */
export function loggedError(error: unknown, depth = 0): LoggedError {
  // `instanceof` would miss errors of another realm.
  if (!types.isNativeError(error)) return { type: typeof error, message: 'not an Error' };
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  const isDeepest = depth >= MAX_DEPTH;
  const message = error.name === 'SyntaxError' ? UNQUOTED : error.message;
  return {
    type: error.name,
    message,
    ...(typeof code === 'string' && { code }),
    ...(error.stack !== undefined && { stack: error.stack.replace(error.message, () => message) }),
    ...(cause !== undefined && !isDeepest && { cause: loggedError(cause, depth + 1) }),
    ...(Array.isArray(errors) &&
      !isDeepest && { errors: errors.map((one) => loggedError(one, depth + 1)) }),
  };
}
