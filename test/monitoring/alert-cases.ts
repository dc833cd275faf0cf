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
  /** Labels of the alert beside those of the copy or the release. */
  labels?: Record<string, string>;
  /** What it is about, where that is not the release as a whole. */
  of?: 'copy';
}

const HOURS = 60;

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
  [`gateway_limit_refusals_total{limit="${limit}"}`]: `0+${aMinute}x30`,
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
  labels: { limit },
  fires: refused(limit, 1),
  quiet: refused(quiet, 9),
  atMinutes: 10,
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
  'http_server_request_duration_seconds_bucket{http_route="/health",le="2.5"}': '0+9000x60',
  'http_server_request_duration_seconds_bucket{http_route="/health",le="+Inf"}': '0+9000x60',
  'http_server_request_duration_seconds_bucket{le="2.5"}': `0+${100 - aboveTwoAndAHalf}x60`,
  'http_server_request_duration_seconds_bucket{le="5"}': '0+100x60',
  'http_server_request_duration_seconds_bucket{le="+Inf"}': '0+100x60',
});

const failures = (kind: string, aMinute: number): Series => ({
  [`gateway_upstream_failures_total{upstream="history",kind="${kind}"}`]: `0+${aMinute}x60`,
  'gateway_upstream_requests_total{upstream="history"}': '0+100x60',
});

const credentials = (reason: string, aMinute: number): Series => ({
  [`gateway_auth_refusals_total{reason="${reason}"}`]: `0+${aMinute}x60`,
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
  { ...burn('1h', 0.02, 0, 2), quiet: draining(0.02, 3 * HOURS) },
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
    alert: 'AgentGatewayUpstreamFailing',
    labels: { upstream: 'history' },
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
    fires: credentials('keys_unavailable', 1),
    quiet: credentials('signature', 1),
    atMinutes: 10,
  },
  {
    alert: 'AgentGatewayCredentialsRefused',
    fires: credentials('signature', 30),
    // Tokens run out all the time, and clients fetch new ones.
    quiet: credentials('expired', 90),
    atMinutes: 30,
  },
  turnsAway('open_reads', 'requests_per_second'),
  turnsAway('open_commands', 'runtime'),
  turnsAway('memory', 'open_reads_per_credential'),
  {
    alert: 'AgentGatewayEndsClients',
    fires: ended('memory', 1),
    // Clients vanish all the time, on phones above all.
    quiet: ended('stalled', 9),
    atMinutes: 10,
  },
  {
    alert: 'AgentGatewayCallerAtLimit',
    labels: { limit: 'requests_per_second' },
    fires: refused('requests_per_second', 1),
    quiet: refused('runtime', 9),
    atMinutes: 25,
  },
  nearLimit(
    'AgentGatewayCallerNearLimit',
    'gateway_open_reads_of_busiest_credential',
    'gateway_open_reads_per_credential_limit',
  ),
  nearLimit(
    'AgentGatewayConnectionNearLimit',
    'gateway_waiting_requests_of_busiest_connection',
    'gateway_waiting_requests_per_connection_limit',
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
