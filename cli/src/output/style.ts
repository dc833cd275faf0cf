import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

export type Format = Parameters<typeof styleText>[0];

/** Dresses a text in colours, or not. */
export type Style = (format: Format, text: string) => string;

/** Colours on a terminal; `NO_COLOR` and `FORCE_COLOR` count as everywhere. */
export function styleFor(stream: Writable): Style {
  return (format, text) =>
    styleText(format, text, { stream: stream as NodeJS.WritableStream, validateStream: true });
}
