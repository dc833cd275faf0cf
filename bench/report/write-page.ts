import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Results } from '../results.ts';
import { allTables, blocks } from './blocks.ts';
import { fillPage } from './page.ts';
import { plots } from './plots.ts';

const DOCS = join(import.meta.dirname, '../../docs');
export const PAGE = join(DOCS, 'performance.md');
export const IMAGES = join(DOCS, 'images');
export const TABLES = join(import.meta.dirname, '../results/tables.md');

/** The page with these results, formatted like the rest of the project. */
export async function renderPage(results: Results): Promise<string> {
  return formatted(fillPage(await readFile(PAGE, 'utf8'), blocks(results)), PAGE);
}

/** `bench/results/tables.md`. */
export function renderTables(results: Results): Promise<string> {
  return formatted(allTables(results), TABLES);
}

/** Writes `docs/performance.md`, its plots, and `bench/results/tables.md`. */
export async function writePage(results: Results): Promise<void> {
  const page = await renderPage(results);
  await mkdir(IMAGES, { recursive: true });
  for (const [name, svg] of plots(results.measurements)) await writeFile(join(IMAGES, name), svg);
  await writeFile(PAGE, page);
  await writeFile(TABLES, await renderTables(results));
}

async function formatted(text: string, filepath: string): Promise<string> {
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}
