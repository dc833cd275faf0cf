/** Waits for a promise, and for this long at most. Resolves with undefined if it takes longer. Leaves no timer behind. */
export async function within<Result>(
  timeoutMs: number,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, timeoutMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
