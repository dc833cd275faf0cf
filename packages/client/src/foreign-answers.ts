import type { APIError } from './api-error.ts';

/** How long such answers in a row are taken for a state that passes. */
const PASSING_MS = 60_000;

/**
 * The 4xx answers that did not come from the gateway, which names the request in every answer: those of a captive portal,
 * or of a proxy during a deployment.
 */
export class ForeignAnswers {
  #sinceMs: number | undefined;

  /** Whether the error is such an answer, and a retry may still succeed. */
  mayPass({ status, requestId }: APIError): boolean {
    // A failed connection neither begins a row nor ends one.
    if (status === undefined) return false;
    if (requestId !== undefined || status < 400 || status >= 500) {
      this.forget();
      return false;
    }
    this.#sinceMs ??= performance.now();
    return performance.now() - this.#sinceMs < PASSING_MS;
  }

  /** The gateway has answered. */
  forget(): void {
    this.#sinceMs = undefined;
  }
}
