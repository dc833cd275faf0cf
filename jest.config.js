import { jestBase } from './test/jest-base.js';

// What is promised of access, CORS, errors and limits holds whoever finds the handler of a read; see `GatewayOptions`.
const SUITES_OF_BOTH_WAYS =
  '{api-key-scopes,auth,cors,pipelining,proxy-access,proxy-headers,proxy-paths,read-tokens,read-token-expiry,shapes}.e2e-spec.ts';

/** @type {import('jest').Config} */
export default {
  projects: [
    {
      ...jestBase,
      displayName: 'gateway',
      testMatch: [
        '<rootDir>/{src,client/src,local,openapi}/**/*.spec.ts',
        '<rootDir>/test/{,reads/}*.e2e-spec.ts',
      ],
      globalSetup: '<rootDir>/test/global-setup.ts',
      globalTeardown: '<rootDir>/test/global-teardown.ts',
    },
    {
      ...jestBase,
      displayName: 'reads by Express',
      testMatch: [
        `<rootDir>/test/${SUITES_OF_BOTH_WAYS}`,
        '<rootDir>/test/faults/limits.fault-spec.ts',
      ],
      globals: { EXPRESS_FOR_READS: true },
    },
  ],
  // Of all projects: Jest ignores it in one.
  testTimeout: 30_000,
  maxWorkers: 2,
};
