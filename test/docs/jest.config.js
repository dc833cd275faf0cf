import { jestBase, WORKER_EXIT_MS } from '../jest-base.js';

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/docs/*.docs-spec.ts'],
  testTimeout: 180_000,
  maxWorkers: 2,
  workerGracefulExitTimeout: WORKER_EXIT_MS,
};
