import { jestBase } from '../jest-base.js';

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testMatch: ['<rootDir>/bench/**/*.spec.ts'],
};
