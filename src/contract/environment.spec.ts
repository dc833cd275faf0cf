import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Environment } from './environment.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/settings.md');

/** Their defaults follow from the memory that the process may use. */
const BY_MEMORY = [
  'GATEWAY_MAX_CONNECTIONS',
  'GATEWAY_MAX_OPEN_READS',
  'GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL',
  'GATEWAY_MAX_OPEN_READS_PER_SUBJECT',
];

describe('Environment', () => {
  it('is what the tables of docs/settings.md list, with its defaults', async () => {
    const rows = (await readFile(DOCUMENT, 'utf8')).matchAll(
      /^\| `(GATEWAY_\w+)` *\| ([^|]*?) *\|/gm,
    );
    const documented = [...rows].map(([, name, byDefault]) => ({ name, byDefault }));

    const settings = Object.entries(new Environment()).map(([name, value]) => {
      if (name === 'GATEWAY_API_KEYS') return { name, byDefault: 'required' };
      if (BY_MEMORY.includes(name)) return { name, byDefault: 'by memory' };
      return {
        name,
        byDefault: value === undefined ? 'none' : `\`${value as string | number | boolean}\``,
      };
    });
    expect(documented).toHaveLength(settings.length);
    expect(documented).toEqual(expect.arrayContaining(settings));
  });
});
