import { jestBase } from '../jest-base.js';

/**
 * Stryker runs Jest once for each mutant, and names the files. `stryker.ts` adds the global setup where the tests need it.
 *
 * @type {import('jest').Config}
 */
export default {
  ...jestBase,
  rootDir: '../..',
  setupFiles: ['<rootDir>/test/support/patient-fetch.ts'],
  // A mutant that makes a test wait for ever is found after this time.
  testTimeout: 10_000,
};
