import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { readPublicNames } from './public-names.ts';
import { referencePage } from './reference-page.ts';

export const REFERENCE_FILE = fileURLToPath(
  new URL('../../packages/REFERENCE.md', import.meta.url),
);

/** The page as it has to be in the project. */
export async function formattedPage(): Promise<string> {
  return format(referencePage(readPublicNames()), {
    ...(await resolveConfig(REFERENCE_FILE)),
    parser: 'markdown',
  });
}
