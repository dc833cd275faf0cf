import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readResults } from '../results-file.ts';
import { plots } from './plots.ts';
import { IMAGES, PAGE, renderPage, renderTables, TABLES } from './write-page.ts';

const LATEST = join(import.meta.dirname, '../results/latest.json');

describe('docs/performance.md', () => {
  it('is what the results of the last whole run give', async () => {
    expect(await renderPage(await readResults(LATEST))).toBe(await readFile(PAGE, 'utf8'));
  });

  it('has all tables of the same run beside it', async () => {
    expect(await renderTables(await readResults(LATEST))).toBe(await readFile(TABLES, 'utf8'));
  });

  it('has the plots of the same run', async () => {
    const { measurements } = await readResults(LATEST);
    const files = [...plots(measurements)];
    expect(files.map(([name]) => name)).toEqual([
      'performance-rate.svg',
      'performance-delivery.svg',
    ]);
    for (const [name, svg] of files) {
      expect(await readFile(join(IMAGES, name), 'utf8')).toBe(svg);
    }
  });
});
