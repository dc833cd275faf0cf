import { globSync } from 'node:fs';
import { resolve } from 'node:path';

import { jestBase } from '../jest-base.js';
import { sampleOf } from '../support/share.ts';

const rootDir = resolve(import.meta.dirname, '../..');

// CI runs about a third of the files, chosen anew each time; `npm run test:long` has all.
const FILES = globSync('test/faults/*.fault-spec.ts', { cwd: rootDir }).sort();

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir,
  testMatch: sampleOf(FILES, 4).map((file) => `<rootDir>/${file}`),
  testTimeout: 180_000,
  // One after the other: they measure time and memory.
  maxWorkers: 1,
};
