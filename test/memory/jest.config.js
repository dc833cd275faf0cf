import { jestBase } from '../jest-base.js';

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/memory/*.memory-spec.ts'],
  testTimeout: 240_000,
  // One after the other: they measure memory, and want the machine.
  maxWorkers: 1,
};
