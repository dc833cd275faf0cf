import { globSync } from 'node:fs';
import { resolve } from 'node:path';

import { jestBase } from '../jest-base.js';
import { sampleOf } from '../support/share.ts';

const rootDir = resolve(import.meta.dirname, '../..');

// CI runs half of the files, chosen anew each time; `npm run test:long` has all.
const FILES = globSync('test/reads/*.heavy-spec.ts', { cwd: rootDir }).sort();

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir,
  testMatch: sampleOf(FILES, 25).map((file) => `<rootDir>/${file}`),
  testTimeout: 240_000,
  // One after the other: they measure memory, and want the machine.
  maxWorkers: 1,
};
