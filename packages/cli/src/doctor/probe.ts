import { errorOfAnswer, type APIError } from '../../../client/src/api-error.ts';
import type { Connection } from '../connection/connection.ts';
import { failureInWords } from '../connection/failure.ts';
import { isCertificateFault, networkErrorInWords } from '../connection/network-error.ts';
import { ownFetch } from '../connection/open-gateway.ts';

/** Shorter than the gateway waits for an upstream: whoever asks the doctor knows within ten seconds. */
export const PATIENCE_MS = 7_000;

/** A response, or the reason why there is none. */
export type Probed =
  | {
      answered: true;
      status: number;
      headers: Headers;
      text: string;
      tookMs: number;
      /** The gateway's stable error code. Errors of upstreams have none. */
      code: string | undefined;
      error: APIError;
    }
  | { answered: false; why: string; isUntrusted: boolean; isLate: boolean };

/**
 * Sends one request to the gateway. It does not use the client library, because every response matters here and
 * nothing is retried.
 */
export async function probe(
  { url, credential }: Pick<Connection, 'url' | 'credential'>,
  path: string,
  init: RequestInit = {},
): Promise<Probed> {
  const startedAtMs = performance.now();
  const headers = new Headers(init.headers);
  if (credential) headers.set('authorization', `Bearer ${credential.value}`);
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    // Redirects are not followed, so that the key goes to no other server.
    const request = { ...init, headers, signal, redirect: 'manual' as const };
    const response = await ownFetch(`${url}${path}`, request);
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text };
    const error = errorOfAnswer(answer, true);
    const code = error.code.startsWith('http_') ? undefined : error.code;
    return { answered: true, ...answer, code, error, tookMs: performance.now() - startedAtMs };
  } catch (error) {
    return {
      answered: false,
      why: networkErrorInWords(error),
      isUntrusted: isCertificateFault(error),
      isLate: (error as Error | undefined)?.name === 'TimeoutError',
    };
  }
}

export function inWords(probed: Probed): string {
  return probed.answered ? failureInWords(probed.error, { url: '' }) : `${probed.why}.`;
}

/** Whether the gateway refused the credential, or its access to this path. */
export function isRefused(probed: Probed): boolean {
  return (
    probed.answered && (probed.status === 401 || probed.status === 403) && probed.code !== undefined
  );
}
