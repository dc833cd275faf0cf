const MAX_TRIES = 5;

/**
 * Runs a scenario that the gateway's own times bear upon, and runs it again where it failed after taking
 * longer than it may: the machine was too busy.
 */
export async function inTime(limitMs: number, scenario: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const startedAtMs = performance.now();
    try {
      await scenario();
      return;
    } catch (error) {
      const tookMs = performance.now() - startedAtMs;
      if (tookMs < limitMs || tries === MAX_TRIES) throw error;
    }
  }
}
