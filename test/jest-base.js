/**
 * What every suite of this project has in common; each adds which files are its own.
 *
 * @type {import('jest').Config}
 */
export const jestBase = {
  testEnvironment: 'node',
  transform: { '^.+\\.ts$': '@swc/jest' },
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/packages/.*/dist', '<rootDir>/.local'],
};
