import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { joined, rendered, styled, text } from './styled.ts';

const SOURCE = join(import.meta.dirname, '..');
const look = (format: unknown, part: string): string => `[${String(format)}:${part}]`;

it('escapes each part before it is coloured', () => {
  const shown = text`${styled('bold', 'a\u001b[5m')} ${'\u202e'}${styled(undefined, '\u009b')}`;
  expect(rendered(shown, look)).toBe('[bold:a\\u001b[5m] \\u202e\\u009b');
  expect(rendered(joined(['\u0007', styled('red', 'x')], ', '), look)).toBe('\\u0007, [red:x]');
  expect(rendered(styled('bold', ''), look)).toBe('');
});

// Each printer of its own was a place that forgot to escape something: the names of columns, then JSON, then a header that was coloured first.
it('is the one way to standard output', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => ({ file, content: readFileSync(join(SOURCE, file), 'utf8') }));
  const thatHave = (pattern: RegExp): string[] =>
    files.filter(({ content }) => pattern.test(content)).map(({ file }) => file);
  expect(thatHave(/output\/write\.ts'|from '\.\/write\.ts'/).toSorted()).toEqual([
    // The user's own shell reads it.
    'commands/completion-command.ts',
    'output/print.ts',
    // The end of the process.
    'run.ts',
    // Bytes of a stream for a file or a program.
    'timeline/chunk-writer.ts',
  ]);
  // Help is the program's own text.
  expect(thatHave(/stdout\.write\(|console\.log/)).toEqual(['program.ts']);
  expect(thatHave(/styleText\(/)).toEqual(['output/print.ts']);
});
