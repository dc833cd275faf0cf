export default {
  // Nothing is written beside the tests.
  cacheDir: process.env.CONFORMANCE_WORK_DIR,
  test: {
    root: import.meta.dirname,
    include: ['suite.ts'],
    setupFiles: ['setup.ts'],
  },
};
