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
