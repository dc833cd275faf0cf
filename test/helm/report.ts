/** One line, or several, of a test's report. */
export function report(text: string): void {
  process.stdout.write(`${text}\n`);
}
