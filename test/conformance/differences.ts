type Outcome = 'passed' | 'failed';

/** A test that does not pass both without the gateway and through it. */
export interface ExpectedDifference {
  /** The test's full name, or what the names of several have in common, of which some may pass. */
  test: string | RegExp;
  without: Outcome;
  through: Outcome;
  /** What of the server, or which rule of the gateway's contract, makes the difference. */
  because: string;
}

function inBothRuns(test: string | RegExp, because: string): ExpectedDifference {
  return { test, without: 'failed', through: 'failed', because };
}

const CLOSING_ONLY = [
  'TTL Expiration Behavior should extend TTL on close-only POST (sliding window)',
  'TTL Expiration Behavior should extend TTL on producer close-only POST (sliding window)',
].map((test) => inBothRuns(test, 'A request that only closes a stream does not restart its TTL.'));

const READ_FROM_NOW = inBothRuns(
  'TTL Expiration Behavior should extend TTL on GET ?offset=now (sliding window)',
  'A read from `now` does not restart the TTL.',
);

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
  READ_FROM_NOW,
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

/** Of the release 0.3.0 of Caddy's plugin. */
export const CADDY_DIFFERENCES: readonly ExpectedDifference[] = [
  ...CLOSING_ONLY,
  READ_FROM_NOW,
  inBothRuns(
    'Fork - Deletion and Lifecycle should return 410 for DELETE on soft-deleted source',
    'It answers 204 again. The source code after the release answers 410.',
  ),
  ...[
    'Fork - Deletion and Lifecycle should return 409 for fork with content-type mismatch',
    'Fork - Deletion and Lifecycle rejected fork (content-type mismatch) does not leak a source reference',
  ].map((test) =>
    inBothRuns(test, 'It answers 500. The source code after the release answers 409.'),
  ),
];

/** Of Rivet's `@rivet-dev/services` 0.1.11 with the engine 2.3.19. */
export const RIVET_DIFFERENCES: readonly ExpectedDifference[] = [
  inBothRuns(/^Fork /, 'The suite names the source by /v1/stream, where this server is not.'),
];
