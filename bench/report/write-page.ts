import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Results } from '../results.ts';
import { blocks } from './blocks.ts';
import { fillPage } from './page.ts';
import { plots } from './plots.ts';

const DOCS = join(import.meta.dirname, '../../docs');
export const PAGE = join(DOCS, 'performance.md');
export const IMAGES = join(DOCS, 'images');

/** The page as these results have it, formatted as the rest of the project. */
export async function renderPage(results: Results): Promise<string> {
  const page = fillPage(await readFile(PAGE, 'utf8'), blocks(results));
  return format(page, { ...(await resolveConfig(PAGE)), filepath: PAGE });
}

/** Writes `docs/performance.md` and its plots. */
export async function writePage(results: Results): Promise<void> {
  const page = await renderPage(results);
  await mkdir(IMAGES, { recursive: true });
  for (const [name, svg] of plots(results.measurements)) await writeFile(join(IMAGES, name), svg);
  await writeFile(PAGE, page);
}
