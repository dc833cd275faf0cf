import { jestBase } from '../jest-base.js';

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testTimeout: 120_000,
  testMatch: ['<rootDir>/bench/**/*.spec.ts'],
};
