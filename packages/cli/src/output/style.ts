import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

export type Format = Parameters<typeof styleText>[0];

/** Colours a text, or not. */
export type Style = (format: Format, text: string) => string;

/** Colours are on for terminals. `NO_COLOR` and `FORCE_COLOR` work as usual. */
export function styleFor(stream: Writable): Style {
  return (format, text) =>
    styleText(format, text, { stream: stream as NodeJS.WritableStream, validateStream: true });
}
