/** @type {import('jest').Config} */
export default {
  rootDir: '../..',
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/faults/*.fault-spec.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.local'],
  testTimeout: 60_000,
  // One after the other: they measure time and memory.
  maxWorkers: 1,
};
