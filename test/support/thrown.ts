/** The error of this kind that a call throws. Undefined where it throws none; any other one is thrown on. */
export function thrown<E extends Error>(
  Kind: abstract new (...args: never[]) => E,
  call: () => unknown,
): E | undefined {
  try {
    call();
  } catch (error) {
    if (error instanceof Kind) return error;
    throw error;
  }
  return undefined;
}
