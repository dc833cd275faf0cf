import type { RetryPolicy } from '@restatedev/restate-sdk';

/**
 * Restate's default waits for up to a minute, and after 70 tries it parks the invocation until
 * somebody resumes it by hand: an entity would stay blocked after an outage is long over.
 */
export const retryForever: RetryPolicy = {
  initialInterval: 100,
  exponentiationFactor: 2,
  maxInterval: 2_000,
  maxAttempts: 2 ** 31 - 1,
};
