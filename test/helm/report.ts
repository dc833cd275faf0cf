/** Prints a text of one or more lines to standard output. */
export function report(text: string): void {
  process.stdout.write(`${text}\n`);
}
