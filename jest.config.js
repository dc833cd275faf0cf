import { jestBase, WORKER_EXIT_MS } from './test/jest-base.js';

/**
 * `npm test`: the specs beside the code, and the gateway's contract over real HTTP. What takes its time, or starts whole systems,
 * is `npm run test:system`.
 *
 * @type {import('jest').Config}
 */
export default {
  ...jestBase,
  testMatch: [
    '<rootDir>/{src,packages,local,tools}/**/*.spec.ts',
    '<rootDir>/test/{commands,cors,server,shapes,streams,telemetry,tokens}/*.e2e-spec.ts',
  ],
  setupFiles: ['<rootDir>/test/support/patient-fetch.ts'],
  globalSetup: '<rootDir>/test/global-setup.ts',
  globalTeardown: '<rootDir>/test/global-teardown.ts',
  testTimeout: 120_000,
  maxWorkers: 2,
  workerGracefulExitTimeout: WORKER_EXIT_MS,
};
