/** What a series has, step by step, as promtool writes it: `0+6x90` is 0, 6, 12 and so on to 540. */
export type Series = Record<string, string>;

/** When an alert fires, and a case like it in which it must not. */
export interface AlertCase {
  alert: string;
  fires: Series;
  /** From the first value. */
  atMinutes: number;
  /** Of the series and of the evaluation; 1 where it is not given. */
  stepMinutes?: number;
  quiet: Series;
  /** The same fault once, within an hour: it must not fire at any time of it. */
  once?: Series;
  /** Labels of the alert beside those of the copy or the release. */
  labels?: Record<string, string>;
  /** What it is about, where that is not the release as a whole. */
  of?: 'copy';
}

const HOURS = 60;
/** An event of which there is one, in the tenth minute. */
const ONCE = '0+0x9 1+0x50';

/** Reads with a token, of which so many a minute are refused. */
const tokens = (refusals: string, refused: string, opened: string): Series => ({
  [refusals]: refused,
  'gateway_credential_requests_total{credential="read-token",outcome="2xx"}': opened,
});
const NOT_YET_VALID = 'gateway_problems_total{code="invalid_credentials",reason="not_yet_valid"}';
const NOT_JUDGED = 'gateway_problems_total{code="keys_unavailable"}';
const EXPIRED = 'gateway_problems_total{code="token_expired"}';

/** A store that answers reads, and so many of its appends a minute with 5xx. */
const appends = (failed: string, all: string): Series => ({
  'gateway_upstream_failures_total{upstream="history",kind="status_5xx",http_request_method="GET"}':
    '0+0x60',
  'gateway_upstream_requests_total{upstream="history",http_request_method="GET"}': '0+9000x60',
  'gateway_upstream_failures_total{upstream="history",kind="status_5xx",http_request_method="POST"}':
    failed,
  'gateway_upstream_requests_total{upstream="history",http_request_method="POST"}': all,
});

/** Series of requests of which this share fails, over this many steps. */
function failing(share: number, steps: number): Series {
  return {
    // Probes must not water it down.
    'gateway_requests_total{http_route="/health",http_response_status_class="2xx"}': `0+9000x${steps}`,
    'gateway_requests_total{http_response_status_class="2xx"}': `0+${1000 * (1 - share)}x${steps}`,
    'gateway_requests_total{http_response_status_class="5xx"}': `0+${1000 * share}x${steps}`,
    'gateway_problems_total{code="draining"}': `0+0x${steps}`,
  };
}

/** The same share of errors, from copies that drain. */
function draining(share: number, steps: number): Series {
  return {
    ...failing(share, steps),
    'gateway_problems_total{code="draining"}': `0+${1000 * share}x${steps}`,
  };
}

const refused = (limit: string, aMinute: number): Series => ({
  [`gateway_problems_total{code="overloaded",reason="${limit}"}`]: `0+${aMinute}x30`,
});

const ended = (reason: string, aMinute: number): Series => ({
  [`gateway_clients_ended_total{reason="${reason}"}`]: `0+${aMinute}x30`,
});

const share = (part: string, whole: string, value: number): Series => ({
  [part]: `${value}+0x30`,
  [whole]: '100+0x30',
});

/** Fires for a copy above this share of a limit, and not below that one. */
const nearLimit = (
  alert: string,
  part: string,
  whole: string,
  fires = 81,
  quiet = 79,
): AlertCase => ({
  alert,
  fires: share(part, whole, fires),
  quiet: share(part, whole, quiet),
  atMinutes: 10,
  of: 'copy',
});

const turnsAway = (limit: string, quiet: string): AlertCase => ({
  alert: 'AgentGatewayTurnsAway',
  labels: { reason: limit },
  fires: refused(limit, 9),
  quiet: refused(quiet, 9),
  // One 503 was critical.
  once: { [`gateway_problems_total{code="overloaded",reason="${limit}"}`]: ONCE },
  atMinutes: 5,
});

const burn = (window: string, fires: number, quiet: number, atHours: number): AlertCase => {
  // A longer step for long windows, because days in steps of a minute take minutes.
  const stepMinutes = atHours > 10 ? 15 : 1;
  const steps = ((atHours + 1) * HOURS) / stepMinutes;
  return {
    alert: 'AgentGatewayErrorBudgetBurn',
    labels: { window },
    fires: failing(fires, steps),
    quiet: failing(quiet, steps),
    atMinutes: atHours * HOURS,
    stepMinutes,
  };
};

/** Two series of bytes with a given ratio. */
const held = (ofEach: number): Series => ({
  'gateway_held_bytes{kind="answers"}': `${ofEach}+0x30`,
  'gateway_held_bytes{kind="events"}': `${ofEach}+0x30`,
  gateway_held_bytes_limit: '100+0x30',
});

const slow = (aboveTwoAndAHalf: number): Series => ({
  http_server_request_duration_seconds_count: '0+100x60',
  'http_server_request_duration_seconds_bucket{http_route="/health",le="2.5"}': '0+9000x60',
  'http_server_request_duration_seconds_bucket{http_route="/health",le="+Inf"}': '0+9000x60',
  'http_server_request_duration_seconds_bucket{le="2.5"}': `0+${100 - aboveTwoAndAHalf}x60`,
  'http_server_request_duration_seconds_bucket{le="5"}': '0+100x60',
  'http_server_request_duration_seconds_bucket{le="+Inf"}': '0+100x60',
});

const failures = (kind: string, aMinute: number): Series => ({
  [`gateway_upstream_failures_total{upstream="history",http_request_method="GET",kind="${kind}"}`]: `0+${aMinute}x60`,
  'gateway_upstream_requests_total{upstream="history",http_request_method="GET"}': '0+100x60',
});

const credentials = (reason: string, aMinute: number): Series => ({
  [`gateway_problems_total{code="invalid_credentials",reason="${reason}"}`]: `0+${aMinute}x60`,
  'gateway_requests_total{http_response_status_class="4xx"}': '0+100x60',
});

const busy = (share: number): Series => ({
  'nodejs_eventloop_time_seconds_total{nodejs_eventloop_state="active"}': `0+${60 * share}x60`,
  'nodejs_eventloop_time_seconds_total{nodejs_eventloop_state="idle"}': `0+${60 * (1 - share)}x60`,
});

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'AgentGatewayDown',
    fires: { up: '0+0x10' },
    quiet: { up: '1+0x10' },
    atMinutes: 5,
  },
  {
    alert: 'AgentGatewayTargetDown',
    fires: { up: '0+0x20' },
    quiet: { up: '0 0 1+0x20' },
    atMinutes: 10,
    of: 'copy',
  },
  {
    alert: 'AgentGatewayRestarting',
    fires: { process_start_time_seconds: '1 1 2 2 3 3 4 4+0x30' },
    quiet: { process_start_time_seconds: '1 1 2 2 3 3+0x30' },
    atMinutes: 20,
    of: 'copy',
  },
  // At 2 % a month's budget lasts a day and a half.
  {
    ...burn('1h', 0.02, 0, 2),
    quiet: draining(0.02, 3 * HOURS),
    // One of 20 requests in an hour is far more than 1.44 %, and nothing to wake somebody for.
    once: {
      'gateway_requests_total{http_response_status_class="2xx"}': '0+0.33x60',
      'gateway_requests_total{http_response_status_class="5xx"}': ONCE,
      'gateway_problems_total{code="draining"}': '0+0x60',
    },
  },
  burn('6h', 0.007, 0.005, 7),
  burn('1d', 0.004, 0.002, 30),
  burn('3d', 0.002, 0.0009, 80),
  {
    alert: 'AgentGatewayInternalErrors',
    fires: { 'gateway_problems_total{code="internal_error"}': '0+0x5 1+0x30' },
    quiet: { 'gateway_problems_total{code="internal_error"}': '7+0x30' },
    atMinutes: 10,
  },
  { alert: 'AgentGatewaySlow', fires: slow(2), quiet: slow(0), atMinutes: 30 },
  {
    alert: 'AgentGatewayUpstreamDown',
    labels: { upstream: 'sync' },
    fires: {
      'gateway_upstream_reachable{upstream="sync",instance="a"}': '0+0x30',
      'gateway_upstream_reachable{upstream="sync",instance="b"}': '0+0x30',
    },
    quiet: {
      'gateway_upstream_reachable{upstream="sync",instance="a"}': '0+0x30',
      'gateway_upstream_reachable{upstream="sync",instance="b"}': '1+0x30',
    },
    atMinutes: 5,
  },
  {
    alert: 'AgentGatewayUpstreamUnreachable',
    labels: { upstream: 'sync' },
    fires: { 'gateway_upstream_reachable{upstream="sync"}': '0+0x30' },
    quiet: { 'gateway_upstream_reachable{upstream="sync"}': '0+0x10 1+0x20' },
    atMinutes: 20,
    of: 'copy',
  },
  {
    // A full store failed every append. Its reads hid that, and nothing fired for a quarter of an hour.
    alert: 'AgentGatewayUpstreamFails',
    labels: { upstream: 'history', http_request_method: 'POST' },
    fires: appends('0+30x60', '0+30x60'),
    quiet: appends('0+3x60', '0+30x60'),
    once: appends(ONCE, ONCE),
    atMinutes: 5,
  },
  {
    alert: 'AgentGatewayUpstreamFailing',
    labels: { upstream: 'history', http_request_method: 'GET' },
    once: appends(ONCE, ONCE),
    fires: failures('timeout', 10),
    quiet: failures('stale', 10),
    atMinutes: 30,
  },
  {
    // One copy is enough: the next one to start does not.
    alert: 'AgentGatewaySecretFileBad',
    labels: { setting: 'GATEWAY_API_KEYS_FILE' },
    fires: {
      'gateway_secret_file_good{setting="GATEWAY_API_KEYS_FILE",instance="a"}': '1 0+0x30',
      'gateway_secret_file_good{setting="GATEWAY_API_KEYS_FILE",instance="b"}': '1+0x30',
      'gateway_secret_file_good{setting="GATEWAY_SYNC_SECRET_FILE"}': '1+0x30',
    },
    quiet: { 'gateway_secret_file_good{setting="GATEWAY_API_KEYS_FILE"}': '1 0 1+0x30' },
    atMinutes: 5,
  },
  {
    alert: 'AgentGatewayKeySetUnavailable',
    fires: { gateway_token_keys_available: '0+0x30' },
    quiet: { gateway_token_keys_available: '0 0 1+0x30' },
    atMinutes: 5,
    of: 'copy',
  },
  {
    alert: 'AgentGatewayTokensNotJudged',
    fires: tokens(NOT_JUDGED, '0+10x60', '0+90x60'),
    quiet: tokens(NOT_JUDGED, '0+10x60', '0+900x60'),
    once: tokens(NOT_JUDGED, ONCE, '0+0x60'),
    atMinutes: 5,
  },
  {
    // The clock of a back end was 90 s fast: every read got 401, and nothing fired.
    alert: 'AgentGatewayTokensNotYetValid',
    fires: tokens(NOT_YET_VALID, '0+10x60', '0+90x60'),
    quiet: tokens(NOT_YET_VALID, '0+10x60', '0+900x60'),
    once: tokens(NOT_YET_VALID, ONCE, '0+0x60'),
    atMinutes: 5,
  },
  {
    // The same with a slow clock. Tokens also run out all the time, and clients fetch new ones.
    alert: 'AgentGatewayTokensExpired',
    fires: tokens(EXPIRED, '0+60x60', '0+40x60'),
    quiet: tokens(EXPIRED, '0+40x60', '0+60x60'),
    once: tokens(EXPIRED, ONCE, '0+0x60'),
    atMinutes: 8,
  },
  {
    alert: 'AgentGatewayCredentialsRefused',
    fires: credentials('signature', 30),
    once: {
      'gateway_problems_total{code="invalid_credentials",reason="signature"}': ONCE,
      'gateway_requests_total{http_response_status_class="4xx"}': ONCE,
    },
    // Tokens run out all the time, and clients fetch new ones.
    quiet: credentials('malformed_header', 90),
    atMinutes: 30,
  },
  {
    alert: 'AgentGatewayCallerFloods',
    labels: { credential: 'agents' },
    fires: {
      'gateway_credential_requests_total{credential="agents",outcome="2xx"}':
        '0+600x120 78000+6000x60',
    },
    // Much, but as every day; and few, though more than before.
    quiet: {
      'gateway_credential_requests_total{credential="agents",outcome="2xx"}': '0+6000x180',
      'gateway_credential_requests_total{credential="pages",outcome="2xx"}':
        '0+60x120 9600+2400x60',
    },
    once: {
      'gateway_credential_requests_total{credential="agents",outcome="2xx"}': '0+0x40 20000+0x20',
    },
    atMinutes: 132,
  },
  turnsAway('open_reads', 'requests_per_second'),
  turnsAway('open_commands', 'runtime'),
  turnsAway('memory', 'open_reads_per_credential'),
  {
    alert: 'AgentGatewayEndsClients',
    fires: ended('memory', 9),
    once: { 'gateway_clients_ended_total{reason="memory"}': ONCE },
    // Clients vanish all the time, on phones above all.
    quiet: ended('stalled', 9),
    atMinutes: 10,
  },
  {
    alert: 'AgentGatewayCallerAtLimit',
    labels: { reason: 'requests_per_second' },
    fires: refused('requests_per_second', 9),
    once: { 'gateway_problems_total{code="rate_limited",reason="requests_per_second"}': ONCE },
    quiet: refused('runtime', 9),
    atMinutes: 25,
  },
  nearLimit(
    'AgentGatewayCallerNearLimit',
    'gateway_open_reads_of_busiest_credential',
    'gateway_open_reads_per_credential_limit',
  ),
  nearLimit(
    'AgentGatewayCallerNearLimit',
    'gateway_open_reads_of_busiest_subject',
    'gateway_open_reads_per_subject_limit',
  ),
  nearLimit('AgentGatewayNearOpenReadLimit', 'gateway_open_reads', 'gateway_open_reads_limit'),
  nearLimit(
    'AgentGatewayNearOpenCommandLimit',
    'gateway_open_commands',
    'gateway_open_commands_limit',
  ),
  nearLimit('AgentGatewayNearConnectionLimit', 'gateway_connections', 'gateway_connections_limit'),
  // New work is refused at 75 %: all kinds together have to tell before.
  {
    alert: 'AgentGatewayNearHeldBytesLimit',
    fires: held(31),
    quiet: held(29),
    atMinutes: 10,
    of: 'copy',
  },
  {
    alert: 'AgentGatewayNearMemoryLimit',
    fires: { gateway_memory_used_ratio: '0.71+0x30' },
    // Garbage that is collected in time.
    quiet: { gateway_memory_used_ratio: '0.71 0.71 0.71 0.71 0.6 0.71+0x30' },
    atMinutes: 8,
    of: 'copy',
  },
  nearLimit('AgentGatewayNearFileLimit', 'process_open_fds', 'process_max_fds'),
  {
    alert: 'AgentGatewayLosesLogLines',
    of: 'copy',
    fires: { gateway_log_lines_dropped_total: '0x10 5x30' },
    quiet: { gateway_log_lines_dropped_total: '5x40' },
    atMinutes: 15,
  },
  {
    alert: 'AgentGatewayAuditFails',
    fires: { gateway_audit_file_good: '1+0x5 0+0x30' },
    quiet: { gateway_audit_file_good: '1+0x40', gateway_audit_lines_dropped_total: '5+0x40' },
    // A write that failed, and the next one did not.
    once: { gateway_audit_file_good: '1+0x9 0 1+0x50' },
    atMinutes: 10,
    of: 'copy',
  },
  {
    alert: 'AgentGatewayEventLoopLag',
    fires: { nodejs_eventloop_lag_p99_seconds: '0.2+0x30' },
    quiet: { nodejs_eventloop_lag_p99_seconds: '0.02+0x30' },
    atMinutes: 10,
    of: 'copy',
  },
  { alert: 'AgentGatewayBusy', fires: busy(0.95), quiet: busy(0.8), atMinutes: 30, of: 'copy' },
  nearLimit(
    'AgentGatewayHeapNearLimit',
    'nodejs_heap_size_used_bytes',
    'nodejs_heap_size_limit_bytes',
    86,
    80,
  ),
];
