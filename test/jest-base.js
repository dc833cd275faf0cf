/**
 * How long a worker may take to exit after its last file, for suites with several workers. By default Jest kills it after half a
 * second, which a large heap takes on a busy machine, and says that tests leave something open.
 */
export const WORKER_EXIT_MS = 30_000;

/**
 * What every suite of this project has in common; each adds which files are its own.
 *
 * @type {import('jest').Config}
 */
export const jestBase = {
  testEnvironment: 'node',
  transform: { '^.+\\.ts$': '@swc/jest' },
  extensionsToTreatAsEsm: ['.ts'],
  // The packages that build on the client library are tested with its sources.
  moduleNameMapper: { '^@agent-gateway/client$': '<rootDir>/packages/client/src/index.ts' },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/packages/.*/dist', '<rootDir>/.local'],
};
