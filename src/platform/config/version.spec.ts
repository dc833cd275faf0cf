import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { gatewayVersion } from './version.ts';

describe('gatewayVersion', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'version-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const version = (): string => gatewayVersion(pathToFileURL(join(folder, 'main.js')).href);

  // The start ended with EISDIR.
  it('is unknown where no package.json is', () => expect(version()).toBe('unknown'));

  it.each([
    ['{"version":"1.2.3"}', '1.2.3'],
    ['{}', 'unknown'],
    ['{"version":1}', 'unknown'],
    ['{', 'unknown'],
  ])('of a package.json %j is %s', async (text, is) => {
    await writeFile(join(folder, 'package.json'), text);
    expect(version()).toBe(is);
  });
});
