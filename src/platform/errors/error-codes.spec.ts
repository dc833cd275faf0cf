import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES } from './error-codes.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/http-api.md');

/** The cells of the table in the section "Errors", without its heading. */
async function documentedErrors(): Promise<string[][]> {
  const section = (await readFile(DOCUMENT, 'utf8'))
    .split(/^## /m)
    .find((text) => text.startsWith('Errors\n'));
  const rows = (section ?? '').split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('ERROR_CODES', () => {
  it('is the very table of docs/http-api.md', async () => {
    const documented = (await documentedErrors()).flatMap(([status, codes = '']) =>
      codes.split(', ').map((code) => `${status} ${code}`),
    );
    const known = Object.entries(ERROR_CODES).map(([code, { status }]) => `${status} \`${code}\``);
    expect(documented).toEqual(known);
  });

  it('has stable names, error statuses and titles that are no sentence', () => {
    for (const [code, { status, title }] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect(String(status)).toMatch(/^[45]\d\d$/);
      expect(title).toMatch(/^[A-Z].*[^.]$/);
    }
  });
});
