import { jestBase, WORKER_EXIT_MS } from '../jest-base.js';

// Once for all files, each of which may run in a process of its own.
process.env.FENCE_SEED ??= String(Date.now() % 1_000_000);
process.stdout.write(
  `FENCE_SEED=${process.env.FENCE_SEED} npm run test:fence repeats this run exactly\n`,
);

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/fence/*.fence-spec.ts'],
  // A property with its thousands of rounds takes two minutes beside others.
  testTimeout: 600_000,
  maxWorkers: 2,
  workerGracefulExitTimeout: WORKER_EXIT_MS,
};
