import { expect, it } from '@jest/globals';
import { rendered } from '../output/styled.ts';
import { changeText, rowsText } from './catalog-text.ts';

const COLUMN = 'x\u001b]52;c;aGk=\u0007';
const look = (_: unknown, cell: string): string => `<${cell}>`;

// A column of another table may have any name: OSC 52 in it wrote to the clipboard.
it('escapes what steers a terminal in the heading, before it is coloured', () => {
  const text = rowsText([{ [COLUMN]: '\u001b[31m' }], [COLUMN]);
  expect(rendered(text, look)).toBe('<X\\u001b]52;C;AGK=\\u0007>\n\\u001b[31m\n');
});

it('escapes it in the names and values of a change', () => {
  const row = { type: 'a', id: 'b', status: '\u001b[31m', [COLUMN]: '\n\u202e' };
  const before = { status: 'idle', [COLUMN]: null };
  const change = { operation: 'update', key: 'k', row, before } as never;
  const shown = rendered(changeText(change, new Date(0)), look);
  expect(shown.replace(/^<.{19}>/, '<T>')).toBe(
    '<T>  <~> a/b  status: idle → \\u001b[31m, x\\u001b]52;c;aGk=\\u0007: – → \\n\\u202e\n',
  );
});
