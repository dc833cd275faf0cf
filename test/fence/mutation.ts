import type { Random } from '../soak/random.ts';

type Many = readonly [string, ...string[]];

/** The fragments of attacks. */
const PIECES: Many = [
  "'",
  '"',
  "''",
  '""',
  '(',
  ')',
  ') OR (',
  ')) OR ((',
  '[',
  ']',
  ' OR ',
  ' AND ',
  ' NOT ',
  ' IS NULL',
  ' IS NOT NULL',
  ' IN (true)',
  '::bool',
  '::regclass',
  ' BETWEEN ',
  ' UNION ',
  ' SELECT ',
  '(SELECT 1)',
  'VALUES (1)',
  'TABLE payroll',
  ' ORDER BY ',
  ' DESC',
  ' NULLS FIRST',
  ', ',
  ';',
  '--',
  '/*',
  '*/',
  '-',
  '+',
  '/',
  '*',
  '\\',
  '$',
  '$$',
  '$1',
  '$a$',
  'E',
  'U&',
  "e'",
  "E'\\''",
  "U&'\\0027'",
  'U&"',
  'x',
  '1',
  '1e',
  '.',
  ':',
  '{}',
  '\0',
  '\t',
  '\n',
  '\v',
  '\u00a0',
  '\u2028',
  '\u212a',
  '\u017f',
  '\ufeff',
  'é',
  '𝐚',
  'tenant',
  "tenant = 'other'",
  'payroll',
  'current_user',
  'query_to_xml(',
  '%00',
  '%27',
];

/** A text with a few places changed. */
export function mutated(random: Random, text: string): string {
  let result = text;
  do result = mutatedOnce(random, result);
  while (random.oneIn(2));
  // Half a character cannot be sent.
  return result.toWellFormed();
}

function mutatedOnce(random: Random, text: string): string {
  const at = random.whole(0, text.length + 1);
  const end = Math.min(text.length, at + 1 + random.whole(0, 6));
  const [before, piece, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (random.whole(0, 6)) {
    case 0:
      return before + after;
    case 1:
      return before + piece + piece + after;
    case 2:
      return before + piece.split('').toReversed().join('') + after;
    case 3:
      return `${before}(${piece})${after}`;
    case 4:
      return before + random.pick(PIECES) + after;
    default:
      return before + random.pick(PIECES) + piece + after;
  }
}
