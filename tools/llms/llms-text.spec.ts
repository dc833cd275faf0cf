import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { llmsText } from './llms-text.ts';

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const index = read('docs/README.md');

describe('docs/llms.txt', () => {
  it('is what the README and the index of the documentation say: else run `npm run llms`', () => {
    expect(read('docs/llms.txt')).toBe(llmsText(read('README.md'), index));
  });

  it('has every page of the index, below its reader', () => {
    const text = llmsText('# name\n\nWhat it\nis.\n\nMore.', index);
    expect(text).toMatch(/^# name\n\n> What it is\.\n\n## Everybody\n\n- \[/);
    const pages = [...index.matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, page]) => page);
    const linked = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, page]) => page);
    expect(linked).toEqual(pages);
    expect(pages.length).toBeGreaterThan(20);
  });
});
