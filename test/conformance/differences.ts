type Outcome = 'passed' | 'failed';

/** A test that does not pass both without the gateway and through it. */
export interface ExpectedDifference {
  /** The test's full name. */
  test: string;
  without: Outcome;
  through: Outcome;
  /** What of the server, or which rule of the gateway's contract, makes the difference. */
  because: string;
}

function inBothRuns(test: string, because: string): ExpectedDifference {
  return { test, without: 'failed', through: 'failed', because };
}

const CLOSING_ONLY = [
  'TTL Expiration Behavior should extend TTL on close-only POST (sliding window)',
  'TTL Expiration Behavior should extend TTL on producer close-only POST (sliding window)',
].map((test) => inBothRuns(test, 'A request that only closes a stream does not restart its TTL.'));

function corsOfServer(because: string): ExpectedDifference {
  return {
    test: 'Caching and ETag should allow If-None-Match in CORS preflight responses',
    without: 'failed',
    through: 'passed',
    because: `CORS is the gateway's own: its preflight allows If-None-Match. ${because}`,
  };
}

/** Of `@durable-streams/server` 0.3.7. */
export const NODE_DIFFERENCES: readonly ExpectedDifference[] = [
  corsOfServer("The server's own does not."),
  ...CLOSING_ONLY,
  inBothRuns(
    'TTL Expiration Behavior should extend TTL on GET ?offset=now (sliding window)',
    'A read from `now` does not restart the TTL.',
  ),
  ...[
    'SSE Mode JSON SSE catch-up pairs every data event with a control event',
    'SSE Mode base64 SSE catch-up pairs every data event with a control event',
  ].map((test) => inBothRuns(test, 'Several data events come before one control event.')),
];

/** Of the crate `durable-streams` 0.1.5. */
export const RUST_DIFFERENCES: readonly ExpectedDifference[] = [
  corsOfServer('The server has none.'),
  ...CLOSING_ONLY,
];
