import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SOURCE = join(import.meta.dirname, '../..');
const ROOM = 'proxy/upstream/';

/** A comparison with an upstream's name, or a table that has one by it. */
const DECIDES_BY_NAME =
  /upstream\??\.name\s*[!=]==?|\[[\w.]*upstream\.name\]|\bname\s*[!=]==?\s*'(?:history|sync|runtime-\w+)'/i;
function sources(): string[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
}

const lines = (file: string): string[] => readFileSync(join(SOURCE, file), 'utf8').split('\n');

describe('what is particular to an upstream', () => {
  it('stands in its room: nobody else decides by its name', () => {
    const found = sources()
      .filter((file) => !file.startsWith(ROOM))
      .flatMap((file) => lines(file).filter((line) => DECIDES_BY_NAME.test(line)));
    expect(found).toEqual([]);
    expect(sources()).toContain('main.ts');
  });
});
