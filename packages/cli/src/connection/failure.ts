import { APIError } from '../../../client/src/index.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import type { Connection } from './connection.ts';
import { isCertificateFault, networkErrorInWords } from './network-error.ts';

export const UNTRUSTED_HINT =
  'Where it is of an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS.';

/** No object: the code is the server's, and may be `constructor`. */
const HINTS = new Map(
  Object.entries({
    missing_credentials:
      'Give an API key or a read token: --key-file, AGENT_GATEWAY_KEY or a profile.',
    read_only_token: 'A read token opens tail, ls, watch and describe; all else needs an API key.',
    entity_type_not_registered: 'The types that are registered: agent-gateway doctor',
    tenant_not_served: 'Name the tenant of this gateway with --tenant, or leave it out.',
  }),
);

/**
 * Converts an error of the client library to the `CliError` to end with. Other errors than an `APIError` are bugs
 * and are thrown on. `hint` replaces the usual hint.
 */
export function failureOf(error: unknown, connection: Connection, hint?: string): CliError {
  if (error instanceof CliError) return error;
  if (!(error instanceof APIError)) throw error;
  const message = failureInWords(error, connection);
  return new CliError(exitCodeOfError(error), message, hint ?? hintFor(error, connection), {
    cause: error,
  });
}

/** `404 tenant_not_served. The detail. (request 01K…)`, safe to print. */
export function failureInWords(error: APIError, { url }: Pick<Connection, 'url'>): string {
  const { status, code, detail, requestId } = error;
  if (code === 'invalid_response') {
    return `What answers at ${url} does not seem to be an agent gateway. ${plainLine(detail)}`;
  }
  if (status === undefined) {
    if (code === 'stream_unreadable') return plainLine(detail);
    const words = networkErrorInWords(error.cause ?? error);
    return isCertificateFault(error.cause)
      ? `The gateway at ${url} cannot be trusted: ${words}.`
      : `The gateway at ${url} cannot be reached: ${words}.`;
  }
  const head = code.startsWith('http_')
    ? `${status} from behind the gateway`
    : `${status} ${plainLine(code)}`;
  const request = requestId === undefined ? '' : ` (request ${plainLine(requestId)})`;
  return `${head}. ${detail === '' ? 'It said nothing more.' : plainLine(detail)}${request}`;
}

/** Whether a retry can never succeed, because the certificate of the server is not accepted. */
export function isUntrusted(error: APIError): boolean {
  return error.status === undefined && isCertificateFault(error.cause);
}

function exitCodeOfError({ status, code }: APIError): number {
  if (code === 'invalid_response') return EXIT.unreachable;
  if (code === 'stream_unreadable') return EXIT.failed;
  return status === undefined ? EXIT.unreachable : exitCodeOf(status);
}

function hintFor(error: APIError, { credential }: Connection): string | undefined {
  if (isUntrusted(error)) {
    return UNTRUSTED_HINT;
  }
  if (error.code === 'invalid_credentials' && credential) {
    return `The key came from ${credential.from}.`;
  }
  return HINTS.get(error.code);
}
