/**
 * Compares what a page shows as output with what was said. What differs from one run to the next
 * counts by its form; `…` in a page stands for anything, or nothing.
 */
export function isAsShown(shown: string, said: string): boolean {
  return patternOf(shown).test(normalize(said));
}

/** Whether the output contains the text that a page shows. */
export function isPartAsShown(shown: string, said: string): boolean {
  return new RegExp(sourceOf(shown)).test(normalize(said));
}

function patternOf(shown: string): RegExp {
  return new RegExp(`^${sourceOf(shown)}$`);
}

function sourceOf(shown: string): string {
  return normalize(shown).split('…').map(escape).join('[^]*?');
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** The values that differ between runs, by the name of their form. */
const FORMS: readonly [name: string, form: RegExp][] = [
  ['jwt', /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g],
  ['ulid', /\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/gi],
  ['time', /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g],
  ['date', /\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\b/g],
  ['invocation', /\binv_\w+/g],
  ['deployment', /\bdp_\w+/g],
  ['offset', /\b\d{16}_\d{16}\b/g],
  ['duration', /(?<="durationMs":)\d+(?:\.\d+)?/g],
  ['cursor', /(?<="streamCursor":")\d+/g],
];

function normalize(text: string): string {
  const named = FORMS.reduce((rest, [name, form]) => rest.replace(form, `‹${name}›`), text);
  return named.replace(/[ \t\r]+$/gm, '').trim();
}
