/** Runs checks one after the other, a line each, for suites that run without Jest. */
export class Checks {
  private passed = 0;
  private failed = 0;

  section(title: string): void {
    process.stdout.write(`\n${title}\n`);
  }

  async check(name: string, run: () => Promise<void>): Promise<void> {
    const startedAtMs = performance.now();
    try {
      await run();
      this.passed += 1;
      const tookMs = Math.round(performance.now() - startedAtMs);
      process.stdout.write(`  ok      ${name} (${tookMs} ms)\n`);
    } catch (error) {
      this.failed += 1;
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stdout.write(`  FAILED  ${name}\n${text.replace(/^/gm, '          ')}\n`);
    }
  }

  /** The last line, and the exit code. A run without a check is no success. */
  finish(): void {
    process.stdout.write(`\n${this.passed} passed, ${this.failed} failed\n`);
    if (this.failed > 0 || this.passed === 0) process.exitCode = 1;
  }
}

/** Prints what is missing and how to get it, and ends the run as failed. */
export function giveUp(message: string): void {
  process.stdout.write(`${message}\n`);
  process.exitCode = 1;
}
