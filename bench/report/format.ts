import type { Spread } from '../measure/statistics.ts';

/** Stands for a missing number. */
const NOTHING = '–';

/** A whole number with a comma between thousands. */
export function count(number: number): string {
  if (Number.isNaN(number)) return NOTHING;
  return Math.round(number).toLocaleString('en-US');
}

/** `median (least to most)`. */
export function range({ median, min, max }: Spread, format: (value: number) => string): string {
  if (Number.isNaN(median)) return NOTHING;
  return `${format(median)} (${format(min)} to ${format(max)})`;
}

/** A number with three significant digits. */
export function short(number: number): string {
  if (Number.isNaN(number)) return NOTHING;
  const decimals = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return number.toFixed(decimals);
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MiB`;
}

/** A Markdown table. All columns after the first hold numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map(line).join('\n');
}

/** Readers look for the gateway, so its name is bold. */
export function nameOf({ id, label }: { id: string; label: string }): string {
  return id === 'gateway' ? `**${label}**` : label;
}

/** Why a row has no more measurements. Empty if it has all. */
export function trouble({ failure }: { failure?: string }): string {
  return failure === undefined ? '' : ` (failed: ${failure})`;
}

/** The parts that the tables lack, and why. Empty if none is missing. */
export function leftOut(missing: readonly string[]): string {
  return missing.map((reason) => `\n\nLeft out: ${reason}.`).join('');
}
