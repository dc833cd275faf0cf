/** @type {import('jest').Config} */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/memory/*.memory-spec.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.local'],
  testTimeout: 240_000,
  // One after the other: they measure memory, and want the machine.
  maxWorkers: 1,
};
