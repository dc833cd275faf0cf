/** One line, or several, of a test's report. */
export function report(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Checks that run one after the other, each with a name that states condition and outcome. */
export class Checks {
  private passed = 0;
  private failed = 0;

  async check(name: string, body: () => void | Promise<void>): Promise<void> {
    try {
      await body();
      this.passed += 1;
      report(`  ok    ${name}`);
    } catch (error) {
      this.failed += 1;
      report(`  FAIL  ${name}`);
      const text = error instanceof Error ? error.message : String(error);
      report(text.replace(/^/gm, '        '));
    }
  }

  /** Prints the last line and sets the exit code. */
  finish(): void {
    report(`${this.passed} passed, ${this.failed} failed`);
    if (this.failed > 0 || this.passed === 0) process.exitCode = 1;
  }
}
