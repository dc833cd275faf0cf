import type { Connection } from '../connection/connection.ts';
import { gatewayFetch } from '../connection/gateway-fetch.ts';
import { networkErrorInWords } from '../connection/network-error.ts';
import { refusalInWords, refusalOf, type Refusal } from '../connection/refusal.ts';

/** Longer than the gateway waits for a command's answer (`GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS`). */
const TIMEOUT_MS = 20_000;

/** An answer, or why there is none. */
export type Probed =
  | {
      answered: true;
      status: number;
      headers: Headers;
      text: string;
      tookMs: number;
      refusal: Refusal;
    }
  | { answered: false; why: string };

/** Asks the gateway once. */
export async function probe(
  connection: Connection,
  path: string,
  init: RequestInit = {},
): Promise<Probed> {
  const startedAtMs = performance.now();
  try {
    const response = await gatewayFetch(connection)(`${connection.url}${path}`, {
      ...init,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    const { status, headers } = response;
    const refusal = refusalOf({ status, headers, text });
    return {
      answered: true,
      status,
      headers,
      text,
      refusal,
      tookMs: performance.now() - startedAtMs,
    };
  } catch (error) {
    return { answered: false, why: networkErrorInWords(error) };
  }
}

export function inWords(probed: Probed): string {
  return probed.answered ? refusalInWords(probed.refusal) : `${probed.why}.`;
}

/** Whether the gateway refused the credential, or that it opens this. */
export function isRefused(probed: Probed): boolean {
  return (
    probed.answered &&
    (probed.status === 401 || probed.status === 403) &&
    probed.refusal.code !== undefined
  );
}
