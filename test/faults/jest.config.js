import { jestBase } from '../jest-base.js';

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/faults/*.fault-spec.ts'],
  testTimeout: 180_000,
  // One after the other: they measure time and memory.
  maxWorkers: 1,
};
