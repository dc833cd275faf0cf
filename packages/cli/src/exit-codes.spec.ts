import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODE_MEANINGS } from './exit-codes.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/command-line.md'), 'utf8');

// The page once lacked the code 6.
it('the page of the command line has every exit code that the help has', () => {
  const rows = [...PAGE.matchAll(/^\| (\d+) +\| (.*?) *\|$/gm)].map(([, code, text]) => [
    code,
    text,
  ]);
  expect(rows).toEqual(EXIT_CODE_MEANINGS);
});
