import type { Spread } from '../measure/statistics.ts';

/** In place of a number that there is not. */
const NOTHING = '–';

/** With separators of thousands. */
export function count(number: number): string {
  if (Number.isNaN(number)) return NOTHING;
  return Math.round(number).toLocaleString('en-US');
}

/** `median (least to most)`. */
export function range({ median, min, max }: Spread, format: (value: number) => string): string {
  if (Number.isNaN(median)) return NOTHING;
  return `${format(median)} (${format(min)} to ${format(max)})`;
}

/** As many decimals as tell something: three digits. */
export function short(number: number): string {
  if (Number.isNaN(number)) return NOTHING;
  const decimals = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return number.toFixed(decimals);
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MiB`;
}

/** A table of Markdown; the columns after the first are of numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map(line).join('\n');
}

/** The gateway is what one looks for. */
export function nameOf({ id, label }: { id: string; label: string }): string {
  return id === 'gateway' ? `**${label}**` : label;
}

/** What is not in the tables, and why; nothing where all is. */
export function leftOut(missing: readonly string[]): string {
  return missing.map((reason) => `\n\nLeft out: ${reason}.`).join('');
}
