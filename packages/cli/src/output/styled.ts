import { styleText } from 'node:util';
import { plainText } from './plain-text.ts';

/** A look of a terminal, such as `bold`. */
export type Format = Parameters<typeof styleText>[0];

interface Part {
  text: string;
  format: Format | undefined;
}

/**
 * A text whose parts have their own look. Only `rendered` turns a look into what a terminal obeys, after it has escaped the text of each part. So no text
 * of a server can bring a look, or a command for the terminal, of its own.
 */
export class Styled {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }
}

export type Text = string | Styled;

/** A text with one look. */
export function styled(format: Format | undefined, text: string): Styled {
  return new Styled([{ text, format }]);
}

/** The texts as one, each with its look. */
export function joined(texts: readonly Text[], separator = ''): Styled {
  const parts = texts.flatMap((text, index) => {
    const own = typeof text === 'string' ? [{ text, format: undefined }] : text.parts;
    return index > 0 && separator !== '' ? [{ text: separator, format: undefined }, ...own] : own;
  });
  return new Styled(parts);
}

/** Tag of a template: ``text`${styled('bold', name)}: ${value}\n` ``. */
export function text(strings: TemplateStringsArray, ...values: readonly Text[]): Styled {
  return joined(strings.flatMap((string, index) => [string, values[index] ?? '']));
}

/** Safe to write to a terminal. `look` makes a part look so. */
export function rendered(
  shown: Text,
  look: (format: Format, text: string) => string = (_, part) => part,
): string {
  return joined([shown])
    .parts.map(({ text: part, format }) => {
      const safe = plainText(part);
      return format === undefined || safe === '' ? safe : look(format, safe);
    })
    .join('');
}
