import { jestBase, WORKER_EXIT_MS } from '../jest-base.js';
import { sampleOf } from '../support/share.ts';

// With `TEST_SHARE` some of them.
const SUITES_OF_THE_KIT = [
  'faults/turns.fault',
  'system/asked-turns.e2e',
  'system/model-agent.e2e',
  'system/turn-races.e2e',
  'system/turns.e2e',
];

/** @type {import('jest').Config} */
export default {
  ...jestBase,
  rootDir: '../..',
  // Its own, its page, and the tests of the TypeScript kit with an agent of the Python kit.
  testMatch: [
    '<rootDir>/test/python/*.python-spec.ts',
    '<rootDir>/test/docs/snippets.docs-spec.ts',
    ...sampleOf(SUITES_OF_THE_KIT).map((name) => `<rootDir>/test/${name}-spec.ts`),
  ],
  globalSetup: '<rootDir>/test/global-setup.ts',
  globalTeardown: '<rootDir>/test/global-teardown.ts',
  testTimeout: 180_000,
  maxWorkers: 1,
  workerGracefulExitTimeout: WORKER_EXIT_MS,
};
