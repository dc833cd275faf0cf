import type { RetryPolicy } from '@restatedev/restate-sdk';

/**
 * Retries without end. By default Restate waits up to a minute between retries, and pauses the invocation after 70
 * of them until somebody resumes it: an entity would stay blocked long after an outage.
 */
export const retryForever: RetryPolicy = {
  initialInterval: 100,
  exponentiationFactor: 2,
  maxInterval: 2_000,
  maxAttempts: 2 ** 31 - 1,
};
