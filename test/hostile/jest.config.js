import { jestBase } from '../jest-base.js';

// Once for all files. CI runs the same plan each time; a long run by hand takes other seeds and more rounds.
process.env.HOSTILE_SEED ??= '20260101';
process.stdout.write(
  `HOSTILE_SEED=${process.env.HOSTILE_SEED} npm run test:hostile repeats this run; TEST_SHARE=10 has ten times the rounds\n`,
);

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/hostile/*.hostile-spec.ts'],
  testTimeout: 180_000,
  // One after the other: they count what a gateway holds.
  maxWorkers: 1,
};
