/** Writes `docs/llms.txt`. Run it with `npm run llms`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { llmsText } from './llms-text.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

writeFileSync(join(ROOT, 'docs/llms.txt'), llmsText(read('README.md'), read('docs/README.md')));
