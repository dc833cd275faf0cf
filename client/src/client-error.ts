import { APIError, errorOfAnswer } from './api-error.ts';
import { noAnswer } from './transport.ts';

/** The `APIError` for what a client of one of the two protocols threw. A read can always be made again. */
export function readError(error: unknown): APIError {
  if (error instanceof APIError) return error;
  const { status, text, json, details, headers, cause } = (error ?? {}) as Record<string, unknown>;
  if (cause instanceof APIError) return cause;
  if (typeof status !== 'number' || status < 400) {
    return noAnswer(error, (error as Error | undefined)?.name === 'TimeoutError', true);
  }
  // The clients keep what was said in one place or the other.
  const said = text ?? json ?? details ?? '';
  return errorOfAnswer(
    {
      status,
      headers: headersOf(headers),
      text: typeof said === 'string' ? said : JSON.stringify(said),
    },
    true,
  );
}

function headersOf(headers: unknown): Pick<Headers, 'get'> {
  if (headers instanceof Headers) return headers;
  const record = (headers ?? {}) as Record<string, string>;
  return { get: (name) => record[name] ?? null };
}
