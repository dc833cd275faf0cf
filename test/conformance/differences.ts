/** A test that is expected to end differently through the gateway. */
export interface ExpectedDifference {
  /** The test's full name. */
  test: string;
  without: 'passed' | 'failed';
  through: 'passed' | 'failed';
  /** The rule of the gateway's contract that makes the difference. */
  because: string;
}

export const EXPECTED_DIFFERENCES: readonly ExpectedDifference[] = [
  {
    test: 'Caching and ETag should allow If-None-Match in CORS preflight responses',
    without: 'failed',
    through: 'passed',
    because:
      "CORS is the gateway's own: its preflight allows If-None-Match, which the Node server's does not.",
  },
];
