import { APIError, errorOfAnswer } from './api-error.ts';
import { noAnswer } from './transport.ts';

/** Converts an error of one of the protocols' clients to an `APIError`. A read can always be repeated. */
export function readError(error: unknown): APIError {
  if (error instanceof APIError) return error;
  const { status, text, json, details, headers, cause } = (error ?? {}) as Record<string, unknown>;
  if (cause instanceof APIError) return cause;
  if (typeof status !== 'number' || status < 400) {
    return noAnswer(error, (error as Error | undefined)?.name === 'TimeoutError', true);
  }
  // The clients store the response in different places.
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
