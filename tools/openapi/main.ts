import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { openApiDocument } from './document.ts';

const FILE = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));

/**
 * Writes `docs/openapi.json`. With `--check` it only reports, also by its exit code, whether the file is out of
 * date.
 */
const text = await format(JSON.stringify(await openApiDocument()), {
  ...(await resolveConfig(FILE)),
  parser: 'json',
});
if (!process.argv.includes('--check')) {
  await writeFile(FILE, text);
} else if (text !== (await readFile(FILE, 'utf8').catch(() => ''))) {
  process.stdout.write('docs/openapi.json is stale: run `npm run openapi` and commit it\n');
  process.exitCode = 1;
}
