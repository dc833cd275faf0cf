import { Help } from 'commander';

/** The longest line, also on a wide terminal, because longer lines are hard to read. */
const MAX_WIDTH = 100;
const USUAL_WIDTH = 80;

/** How wide help is written, in columns. */
export function helpWidth({ columns }: { columns?: number }): number {
  return Math.min(columns ?? USUAL_WIDTH, MAX_WIDTH);
}

/** A part of the help: a heading, and a list of terms with what they mean. */
export function termList(
  heading: string,
  items: readonly (readonly [string, string])[],
  width: number,
): string {
  const help = new Help();
  help.helpWidth = width;
  const termWidth = Math.max(...items.map(([term]) => term.length));
  const lines = items.map(([term, meaning]) => help.formatItem(term, termWidth, meaning, help));
  return ['', paragraph(heading, width), ...lines].join('\n');
}

export function paragraph(text: string, width: number): string {
  return new Help().boxWrap(text, width);
}

/** The examples in a command's help, one per line. They are not wrapped, so that users can copy them. */
export function examples(...lines: string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}
