import { jestBase } from '../jest-base.js';

/**
 * Stryker runs Jest once for each mutant, and names the files. So there is no global setup here: `run.ts` starts Restate once.
 *
 * @type {import('jest').Config}
 */
export default {
  ...jestBase,
  rootDir: '../..',
  // A mutant that makes a test wait for ever is found after this time.
  testTimeout: 10_000,
};
