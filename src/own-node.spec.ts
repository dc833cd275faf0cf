import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isNewEnough } from './own-node.ts';

describe('isNewEnough', () => {
  it.each(['22.19.0', '22.20.1', '23.0.0', '24.0.0', '100.0.0'])('takes Node %s', (version) => {
    expect(isNewEnough(version)).toBe(true);
  });

  it.each(['22.18.9', '22.9.0', '21.99.0', '20.20.2', '4.19.0'])('refuses Node %s', (version) => {
    expect(isNewEnough(version)).toBe(false);
  });

  it('agrees with what package.json asks for', async () => {
    const manifest = join(import.meta.dirname, '../package.json');
    const { engines } = JSON.parse(await readFile(manifest, 'utf8')) as {
      engines: { node: string };
    };
    const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? [];
    expect(isNewEnough(`${major}.${minor}.0`)).toBe(true);
    expect(isNewEnough(`${major}.${Number(minor) - 1}.0`)).toBe(false);
  });
});
