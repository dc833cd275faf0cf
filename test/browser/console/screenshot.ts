import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const IMAGES = join(import.meta.dirname, '../../../docs/images');

/** Takes a screenshot only on request or if it is missing, because the times in it change with every run. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const path = join(IMAGES, `${name}.png`);
  if (existsSync(path) && !process.argv.includes('--screenshots')) return;
  await mkdir(IMAGES, { recursive: true });
  await page.screenshot({ path, animations: 'disabled' });
}
