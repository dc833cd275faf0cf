import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isSupported } from './own-node.ts';

describe('isSupported', () => {
  it.each(['22.19.0', '22.20.1', '23.0.0', '24.0.0', '26.99.0'])('takes Node %s', (version) => {
    expect(isSupported(version)).toBe(true);
  });

  it.each(['22.18.9', '22.9.0', '21.99.0', '20.20.2', '4.19.0', '27.0.0', '100.0.0'])(
    'refuses Node %s',
    (version) => {
      expect(isSupported(version)).toBe(false);
    },
  );

  it('agrees with what package.json asks for', async () => {
    const manifest = join(import.meta.dirname, '../../../package.json');
    const { engines } = JSON.parse(await readFile(manifest, 'utf8')) as {
      engines: { node: string };
    };
    const [, major, minor, above] = /^>=(\d+)\.(\d+) <(\d+)$/.exec(engines.node) ?? [];
    expect(isSupported(`${major}.${minor}.0`)).toBe(true);
    expect(isSupported(`${major}.${Number(minor) - 1}.0`)).toBe(false);
    expect(isSupported(`${Number(above) - 1}.99.0`)).toBe(true);
    expect(isSupported(`${above}.0.0`)).toBe(false);
  });
});
