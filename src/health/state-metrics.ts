import { MAX_WAITING_REQUESTS } from '../platform/server/connection.ts';
import { GATEWAY_PHASES } from '../platform/server/gateway-state.ts';
import type { UpstreamProbes } from './upstream-probes.ts';
import { HELD_KINDS } from '../platform/memory/held-bytes.ts';
import type { LogCounts } from '../platform/log/log-output.ts';
import type { GatewayParts } from './gateway-parts.ts';

/** What the metrics read besides the parts of the public port's application. */
export interface FurtherParts {
  probes: UpstreamProbes;
  log: LogCounts;
}

/** One value, or one for each value of the label. */
export type State = number | Record<string, number>;

/** A metric that is read from the state of the gateway. */
export interface StateMetric {
  name: string;
  help: string;
  /** The name of the label, if there is one. */
  label?: string;
  /** Whether the value only grows. */
  isCounter?: boolean;
  read: (parts: GatewayParts, further: FurtherParts) => State | Promise<State>;
}

const READS: readonly StateMetric[] = [
  {
    name: 'gateway_open_reads',
    help: 'Reads of streams and shapes under way.',
    read: ({ readLimits }) => readLimits.openReads,
  },
  {
    name: 'gateway_open_reads_limit',
    help: 'Reads that may be open at once (GATEWAY_MAX_OPEN_READS).',
    read: ({ limits }) => limits.maxOpenReads,
  },
  {
    name: 'gateway_open_reads_of_busiest_credential',
    help: 'Reads under way with the credential that has the most.',
    read: ({ readLimits }) => readLimits.mostOfOneCredential,
  },
  {
    name: 'gateway_open_reads_per_credential_limit',
    help: 'Reads that may be open at once with one credential (GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL).',
    read: ({ limits }) => limits.maxOpenReadsPerCredential,
  },
  {
    name: 'gateway_parked_reads',
    help: 'Reads under way that wait for what is new, by how: parked long-polls, open streams of events.',
    label: 'mode',
    read: ({ openRequests }) => ({ ...openRequests.countLive() }),
  },
];

const COMMANDS: readonly StateMetric[] = [
  {
    name: 'gateway_open_commands',
    help: 'Commands under way.',
    read: ({ commandLimit }) => commandLimit.openCommands,
  },
  {
    name: 'gateway_open_commands_limit',
    help: 'Commands that may be under way at once, a quarter of the connections.',
    read: ({ limits }) => limits.maxOpenCommands,
  },
  {
    name: 'gateway_waiting_commands',
    help: 'Commands that wait for a runtime that cannot be connected to, or for their turn after its return.',
    read: ({ runtime }) => runtime.waitingCount,
  },
  {
    name: 'gateway_runtime_outage_seconds',
    help: 'Time since the runtime could not be connected to any more; 0 where it can.',
    read: ({ runtime }) => runtime.outageSeconds,
  },
];

const CONNECTIONS: readonly StateMetric[] = [
  {
    name: 'http_server_active_requests',
    help: 'Requests under way, reads included.',
    read: ({ openRequests }) => openRequests.size,
  },
  {
    name: 'gateway_connections',
    help: 'Connections of the public port.',
    read: ({ connections }) => connections.count,
  },
  {
    name: 'gateway_connections_limit',
    help: 'Connections that may be open at once (GATEWAY_MAX_CONNECTIONS).',
    read: ({ limits }) => limits.maxConnections,
  },
  {
    name: 'gateway_waiting_requests_of_busiest_connection',
    help: 'Requests that wait behind others on the connection with the most of them.',
    read: ({ connections }) => connections.mostWaitingOfOne,
  },
  {
    name: 'gateway_waiting_requests_per_connection_limit',
    help: 'Requests that may wait on one connection; one with more is closed.',
    read: () => MAX_WAITING_REQUESTS,
  },
  {
    name: 'gateway_connections_accepted_total',
    help: 'Connections that clients have opened to the public port.',
    isCounter: true,
    read: ({ connections }) => connections.accepted,
  },
  {
    name: 'gateway_network_bytes_total',
    help: 'Bytes received from clients and sent to them, heads included.',
    label: 'direction',
    isCounter: true,
    read: ({ connections }) => ({ ...connections.bytes() }),
  },
];

const MEMORY: readonly StateMetric[] = [
  {
    name: 'gateway_held_bytes',
    help: 'Bytes held in memory for others: answers that clients have not taken, events for slow and later readers, request bodies, requests that wait on their connection.',
    label: 'kind',
    read: ({ held }) => Object.fromEntries(HELD_KINDS.map((kind) => [kind, held.of(kind)])),
  },
  {
    name: 'gateway_held_bytes_limit',
    help: 'Bytes that may be held, of all kinds.',
    read: ({ held }) => held.limitBytes,
  },
  {
    name: 'gateway_memory_used_ratio',
    help: 'Share of its memory limit that the process uses, sockets in the kernel included where its control group counts them; or that of its heap where that is larger.',
    read: ({ memoryWatch }) => memoryWatch.usedShare,
  },
  {
    name: 'gateway_memory_limit_bytes',
    help: 'Memory that the process may use: the limit of its control group, else the memory of the machine.',
    read: ({ memoryWatch }) => memoryWatch.limitBytes,
  },
  {
    name: 'gateway_clients_ended_total',
    help: 'Clients whose connection was ended, by why: they took nothing for too long, what was held for them was needed, they sent too many requests ahead, or another client needed the place of their idle connection.',
    label: 'reason',
    isCounter: true,
    read: ({ stalledClients, held, connections }) => ({
      stalled: stalledClients.stalledCount,
      memory: stalledClients.shedCount + held.shedCount + connections.shedCount,
      waiting_requests: connections.overfullCount,
      idle: connections.displacedCount,
    }),
  },
];

const PROCESS: readonly StateMetric[] = [
  {
    name: 'gateway_phase',
    help: '1 for what the gateway is doing, 0 for the rest: serving, or one of the steps of its drain.',
    label: 'phase',
    read: ({ state }) =>
      Object.fromEntries(GATEWAY_PHASES.map((phase) => [phase, Number(phase === state.phase)])),
  },
  {
    name: 'gateway_upstream_reachable',
    help: '1 where a connection to the upstream could be made just now.',
    label: 'upstream',
    read: async (_, { probes }) =>
      Object.fromEntries(
        Object.entries(await probes.states()).map(([upstream, reachable]) => [
          upstream,
          Number(reachable === 'reachable'),
        ]),
      ),
  },
  {
    name: 'gateway_log_lines_dropped_total',
    help: 'Log lines that were dropped because standard output did not take those before them.',
    isCounter: true,
    read: (_, { log }) => log.droppedLines,
  },
  {
    name: 'gateway_log_waiting_bytes',
    help: 'Bytes of log lines that standard output has not taken yet; beyond 4 MiB lines are dropped.',
    read: (_, { log }) => log.waitingBytes,
  },
  {
    name: 'gateway_secret_file_good',
    help: 'Whether a file of keys or secrets was good when it was last read; 0: the list from before is in use.',
    label: 'setting',
    read: ({ secretFiles }) =>
      Object.fromEntries(secretFiles.map(({ name, isFileGood }) => [name, Number(isFileGood)])),
  },
];

/** Only for a gateway with a key set of read tokens. */
export const KEY_SET_METRICS: readonly StateMetric[] = [
  {
    name: 'gateway_token_keys_available',
    help: '1 where the key set of read tokens was had when it was last asked for.',
    read: ({ keySet }) => Number(keySet?.isAvailable),
  },
  {
    name: 'gateway_token_keys_age_seconds',
    help: 'Time since the key set of read tokens was last had, or since the start where it never was.',
    read: ({ keySet }) => keySet?.ageSeconds ?? 0,
  },
];

/** For every gateway. */
export const STATE_METRICS: readonly StateMetric[] = [
  ...READS,
  ...COMMANDS,
  ...CONNECTIONS,
  ...MEMORY,
  ...PROCESS,
];
