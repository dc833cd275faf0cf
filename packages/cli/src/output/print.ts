import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { compactJson } from './json.ts';
import { rendered, type Format, type Text } from './styled.ts';
import { write } from './write.ts';

/**
 * Prints a text for people: the one way of a text to standard output. It escapes what would steer a terminal, then colours what has a look. Colours are on
 * for terminals; `NO_COLOR` and `FORCE_COLOR` work as usual.
 */
export function print(stdout: Writable, shown: Text): Promise<void> {
  return write(stdout, rendered(shown, lookOf(stdout)));
}

/** Gives a text a look. */
export function lookOf(stdout: Writable): (format: Format, text: string) => string {
  const options = { stream: stdout as NodeJS.WritableStream, validateStream: true };
  return (format, text) => styleText(format, text, options);
}

/** Prints a value as one line of JSON that is safe on a terminal. */
export function printJson(stdout: Writable, value: unknown): Promise<void> {
  return printJsonLines(stdout, [value]);
}

/** The same for several values at once. */
export function printJsonLines(stdout: Writable, values: readonly unknown[]): Promise<void> {
  return write(stdout, values.map((value) => `${compactJson(value)}\n`).join(''));
}
