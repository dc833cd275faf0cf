/** Certificate errors, which a retry does not solve. */
const CERTIFICATE_FAULT =
  /^(?:CERT_|ERR_TLS_CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_)/;

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be resolved just now',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
};

/**
 * The reason why `fetch` failed, in words and with the code, such as `the connection is refused (ECONNREFUSED)`.
 */
export function networkErrorInWords(error: unknown): string {
  if ((error as Error | undefined)?.name === 'TimeoutError') return 'no answer in time';
  const code = errorCode(error);
  if (code === undefined) return innermostMessage(error);
  const words = CERTIFICATE_FAULT.test(code) ? 'its certificate is not accepted' : WORDS[code];
  return words === undefined ? code : `${words} (${code})`;
}

/** Whether the server's certificate is not accepted, which a retry does not change. */
export function isCertificateFault(error: unknown): boolean {
  return CERTIFICATE_FAULT.test(errorCode(error) ?? '');
}

/** Whether a request that failed so can have reached the gateway. */
export function mayHaveArrived(error: unknown): boolean {
  const code = errorCode(error);
  return !(
    code !== undefined &&
    /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(
      code,
    )
  );
}

/** `fetch` stores the reason in `cause`, and for a name with several addresses in `errors`. */
function errorCode(error: unknown): string | undefined {
  const { code, cause, errors } = (error ?? {}) as {
    code?: unknown;
    cause?: unknown;
    errors?: unknown[];
  };
  if (typeof code === 'string') return code;
  const inner = cause ?? errors?.[0];
  return inner === undefined ? undefined : errorCode(inner);
}

function innermostMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : innermostMessage(error.cause);
}
