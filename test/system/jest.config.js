import { globSync } from 'node:fs';
import { resolve } from 'node:path';

import { jestBase, WORKER_EXIT_MS } from '../jest-base.js';
import { sampleOf } from '../support/share.ts';

// What is promised of access, CORS, errors and limits holds whoever finds the handler of a read; see `GatewayOptions`.
// With `TEST_SHARE` it is shown with some of them.
const SUITES_OF_BOTH_WAYS = [
  'cors/cors',
  'shapes/shapes',
  'streams/pipelining',
  'streams/proxy-access',
  'streams/proxy-headers',
  'streams/proxy-paths',
  'tokens/api-key-scopes',
  'tokens/auth',
  'tokens/read-tokens',
  'failures/read-token-expiry',
  'faults/limits',
];
// Absolute: Jest takes that of a project to be relative to that of the whole.
const rootDir = resolve(import.meta.dirname, '../..');

// CI runs half of the files of whole systems, which take the longest, and about a sixth of the others, chosen anew each time;
// `npm run test:long` has all.
const filesIn = (folders) => globSync(`test/${folders}/*.e2e-spec.ts`, { cwd: rootDir }).sort();
const FILES = [
  ...sampleOf(filesIn('system'), 3),
  ...sampleOf(filesIn('{cli,client,failures,reads}')),
];

/** @type {import('jest').Config} */
export default {
  rootDir,
  projects: [
    {
      ...jestBase,
      rootDir,
      displayName: 'system',
      testMatch: FILES.map((file) => `<rootDir>/${file}`),
      globalSetup: '<rootDir>/test/global-setup.ts',
      globalTeardown: '<rootDir>/test/global-teardown.ts',
    },
    {
      ...jestBase,
      rootDir,
      displayName: 'reads by Express',
      testMatch: sampleOf(SUITES_OF_BOTH_WAYS).map(
        (suite) => `<rootDir>/test/${suite}.{e2e,fault}-spec.ts`,
      ),
      globals: { EXPRESS_FOR_READS: true },
    },
  ],
  // Of all projects: Jest ignores it in one.
  testTimeout: 120_000,
  maxWorkers: 2,
  workerGracefulExitTimeout: WORKER_EXIT_MS,
};
