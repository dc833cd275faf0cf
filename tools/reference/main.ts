import { readFile, writeFile } from 'node:fs/promises';
import { formattedPage, REFERENCE_FILE } from './formatted-page.ts';

/**
 * Writes `packages/REFERENCE.md`. With `--check` it only reports, also by its exit code, whether the page is out of
 * date.
 */
const text = await formattedPage();
if (!process.argv.includes('--check')) {
  await writeFile(REFERENCE_FILE, text);
} else if (text !== (await readFile(REFERENCE_FILE, 'utf8').catch(() => ''))) {
  process.stdout.write('packages/REFERENCE.md is stale: run `npm run reference` and commit it\n');
  process.exitCode = 1;
}
