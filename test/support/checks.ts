import { test } from 'node:test';

/** Only a check that hangs takes longer. Checks of a release build images. */
const TIMEOUT_MS = 600_000;

/**
 * Runs checks one after the other with Node's own test runner. It is for suites that Jest does not fit: they start
 * browsers, containers or clusters once, and their checks build on each other.
 */
export class Checks {
  private count = 0;
  private title = '';

  /** Begins a part of the suite; its title stands before the names of its checks. */
  section(title: string): void {
    this.title = `${title}: `;
  }

  /** A failed check does not stop the suite. Node's runner reports it, and sets the exit code. */
  async check(name: string, run: () => void | Promise<void>): Promise<void> {
    this.count++;
    await test(this.title + name, { timeout: TIMEOUT_MS }, async () => {
      await run();
    });
  }

  /** A run without a check is no success. */
  finish(): void {
    if (this.count === 0) giveUp('no check has run');
  }
}

/** Prints what is missing and how to get it, and ends the run as failed. */
export function giveUp(message: string): void {
  process.stdout.write(`${message}\n`);
  process.exitCode = 1;
}
