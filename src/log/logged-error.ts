import { types } from 'node:util';

export interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError;
  /** Of an AggregateError, such as one failure for each address of a host. */
  errors?: LoggedError[];
}

/** Causes of causes; an error may even be its own. */
const MAX_DEPTH = 5;

/** In place of a SyntaxError's own words, which quote what `JSON.parse` was given. */
const UNQUOTED = 'the text cannot be parsed';

/**
 * What of an error is for the log. Its other properties are not: a parser's error holds the bytes that
 * it could not parse (`rawPacket`, `data`), a token's the claims (`payload`), a URL's the URL (`input`).
 */
export function loggedError(error: unknown, depth = 0): LoggedError {
  // Not `instanceof`: an error may come from another realm.
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
