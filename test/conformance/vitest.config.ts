export default {
  // Nothing is written beside the tests.
  cacheDir: process.env.CONFORMANCE_WORK_DIR,
  test: {
    root: import.meta.dirname,
    include: ['suite.ts'],
    setupFiles: ['setup.ts'],
    // A busy machine took longer than Vitest's 5 s for one that reads large bodies.
    testTimeout: 60_000,
  },
};
