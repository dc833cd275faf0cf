import { jestBase } from '../jest-base.js';

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/dev/*.dev-spec.ts'],
  testTimeout: 180_000,
  maxWorkers: 1,
};
