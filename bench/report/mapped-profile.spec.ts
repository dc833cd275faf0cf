import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mappedProfile } from './mapped-profile.ts';
import type { CpuProfile } from './profile-owners.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mapped-profile-'));
});
afterEach(() => rm(folder, { recursive: true }));

const profileOf = (url: string, lineNumber: number): CpuProfile => ({
  nodes: [{ id: 1, callFrame: { functionName: 'answer', url, lineNumber, columnNumber: 0 } }],
  samples: [1],
  timeDeltas: [5],
});

it('names the file that each function of a bundled program comes from', async () => {
  const program = join(folder, 'main.js');
  // Line 0 is line 0 of the first source, line 1 is line 0 of the second.
  const sources = ['../src/reads.ts', '../node_modules/undici/index.js'];
  const map = { version: 3, sources, names: [], mappings: 'AAAA;ACAA' };
  await writeFile(`${program}.map`, JSON.stringify(map));
  const url = pathToFileURL(program).href;
  const [first, second] = sources.map((source) => new URL(source, url).href);
  expect(mappedProfile(profileOf(url, 0)).nodes[0]?.callFrame.url).toBe(first);
  expect(mappedProfile(profileOf(url, 1)).nodes[0]?.callFrame.url).toBe(second);
});

it('leaves functions of Node, of V8 and of files without a map as they are', () => {
  const urls = ['node:net', '', pathToFileURL(join(folder, 'main.js')).href];
  for (const url of urls) {
    const profile = profileOf(url, -1);
    expect(mappedProfile(profile)).toEqual(profile);
  }
});
