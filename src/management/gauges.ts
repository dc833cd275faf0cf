import { Counter, Gauge, type Registry } from 'prom-client';
import type { TokenKeySet } from '../auth/token-key-set.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { MAX_WAITING_REQUESTS, type Connections } from '../server/connections.ts';
import { GATEWAY_PHASES, type GatewayState } from '../server/gateway-state.ts';
import type { SecretFiles } from './secret-files.ts';
import type { UpstreamProbes } from './upstream-probes.ts';
import { HELD_KINDS, type HeldBytes } from '../memory/held-bytes.ts';
import type { MemoryWatch } from '../memory/memory-watch.ts';
import type { RuntimeClient } from '../commands/runtime-client.ts';
import type { OpenCommandLimit } from '../limits/open-command-limit.ts';
import type { OpenReadLimits } from '../limits/open-read-limits.ts';
import type { LogCounts } from '../log/log-output.ts';
import type { OpenRequests } from '../server/open-requests.ts';
import type { StalledClients } from '../server/stalled-clients.ts';

/** The objects whose state the gauges read. */
export interface GaugeSources {
  limits: GatewayConfig['limits'];
  state: GatewayState;
  connections: Connections;
  openRequests: OpenRequests;
  readLimits: OpenReadLimits;
  commandLimit: OpenCommandLimit;
  runtime: RuntimeClient;
  held: HeldBytes;
  stalledClients: StalledClients;
  memoryWatch: MemoryWatch;
  probes: UpstreamProbes;
  log: LogCounts;
  keySet: TokenKeySet | undefined;
  secretFiles: SecretFiles;
}

/** Adds gauges of the gateway's state. They are computed only when the metrics are requested. */
export function addGauges(registry: Registry, sources: GaugeSources): void {
  addReadGauges(registry, sources);
  addCommandGauges(registry, sources);
  addConnectionMetrics(registry, sources);
  addMemoryMetrics(registry, sources);
  addStateGauges(registry, sources);
  addLogMetrics(registry, sources);
  addSecretFileGauge(registry, sources.secretFiles);
  if (sources.keySet) addKeySetGauges(registry, sources.keySet);
}

function addReadGauges(
  registry: Registry,
  { limits, openRequests, readLimits }: GaugeSources,
): void {
  gauge(registry, 'gateway_open_reads', 'Reads of streams and shapes under way.', () => {
    return readLimits.openReads;
  });
  gauge(
    registry,
    'gateway_open_reads_limit',
    'Reads that may be open at once (GATEWAY_MAX_OPEN_READS).',
    () => limits.maxOpenReads,
  );
  gauge(
    registry,
    'gateway_open_reads_of_busiest_credential',
    'Reads under way with the credential that has the most.',
    () => readLimits.mostOfOneCredential,
  );
  gauge(
    registry,
    'gateway_open_reads_per_credential_limit',
    'Reads that may be open at once with one credential (GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL).',
    () => limits.maxOpenReadsPerCredential,
  );
  new Gauge({
    name: 'gateway_parked_reads',
    help: 'Reads under way that wait for what is new, by how: parked long-polls, open streams of events.',
    labelNames: ['mode'],
    registers: [registry],
    collect() {
      for (const [mode, count] of Object.entries(openRequests.countLive())) {
        this.set({ mode }, count);
      }
    },
  });
}

function addCommandGauges(
  registry: Registry,
  { limits, commandLimit, runtime }: GaugeSources,
): void {
  gauge(registry, 'gateway_open_commands', 'Commands under way.', () => commandLimit.openCommands);
  gauge(
    registry,
    'gateway_open_commands_limit',
    'Commands that may be under way at once, a quarter of the connections.',
    () => limits.maxOpenCommands,
  );
  gauge(
    registry,
    'gateway_waiting_commands',
    'Commands that wait for a runtime that cannot be connected to, or for their turn after its return.',
    () => runtime.waitingCount,
  );
  gauge(
    registry,
    'gateway_runtime_outage_seconds',
    'Time since the runtime could not be connected to any more; 0 where it can.',
    () => runtime.outageSeconds,
  );
}

function addConnectionMetrics(
  registry: Registry,
  { limits, connections, openRequests }: GaugeSources,
): void {
  gauge(registry, 'http_server_active_requests', 'Requests under way, reads included.', () => {
    return openRequests.count;
  });
  gauge(registry, 'gateway_connections', 'Connections of the public port.', () => {
    return connections.count;
  });
  gauge(
    registry,
    'gateway_connections_limit',
    'Connections that may be open at once (GATEWAY_MAX_CONNECTIONS).',
    () => limits.maxConnections,
  );
  gauge(
    registry,
    'gateway_waiting_requests_of_busiest_connection',
    'Requests that wait behind others on the connection with the most of them.',
    () => connections.mostWaitingOfOne,
  );
  gauge(
    registry,
    'gateway_waiting_requests_per_connection_limit',
    'Requests that may wait on one connection; one with more is closed.',
    () => MAX_WAITING_REQUESTS,
  );
  new Counter({
    name: 'gateway_connections_accepted_total',
    help: 'Connections that clients have opened to the public port.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(connections.accepted);
    },
  });
  new Counter({
    name: 'gateway_network_bytes_total',
    help: 'Bytes received from clients and sent to them, heads included.',
    labelNames: ['direction'],
    registers: [registry],
    collect() {
      const { received, sent } = connections.bytes();
      this.reset();
      this.inc({ direction: 'received' }, received);
      this.inc({ direction: 'sent' }, sent);
    },
  });
}

function addMemoryMetrics(
  registry: Registry,
  { held, connections, stalledClients, memoryWatch }: GaugeSources,
): void {
  new Gauge({
    name: 'gateway_held_bytes',
    help: 'Bytes held in memory for others: answers that clients have not taken, events for slow and later readers, request bodies, requests that wait on their connection.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const kind of HELD_KINDS) this.set({ kind }, held.of(kind));
    },
  });
  gauge(registry, 'gateway_held_bytes_limit', 'Bytes that may be held, of all kinds.', () => {
    return held.limitBytes;
  });
  gauge(
    registry,
    'gateway_memory_used_ratio',
    'Share of its memory limit that the process uses, sockets in the kernel included where its control group counts them; or that of its heap where that is larger.',
    () => memoryWatch.usedShare,
  );
  gauge(
    registry,
    'gateway_memory_limit_bytes',
    'Memory that the process may use: the limit of its control group, else the memory of the machine.',
    () => memoryWatch.limitBytes,
  );
  new Counter({
    name: 'gateway_clients_ended_total',
    help: 'Clients whose connection was ended, by why: they took nothing for too long, what was held for them was needed, they sent too many requests ahead, or another client needed the place of their idle connection.',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ reason: 'stalled' }, stalledClients.stalledCount);
      this.inc(
        { reason: 'memory' },
        stalledClients.shedCount + held.shedCount + connections.shedCount,
      );
      this.inc({ reason: 'waiting_requests' }, connections.overfullCount);
      this.inc({ reason: 'idle' }, connections.displacedCount);
    },
  });
}

function addStateGauges(registry: Registry, { state, probes }: GaugeSources): void {
  new Gauge({
    name: 'gateway_phase',
    help: '1 for what the gateway is doing, 0 for the rest: serving, or one of the steps of its drain.',
    labelNames: ['phase'],
    registers: [registry],
    collect() {
      for (const phase of GATEWAY_PHASES) this.set({ phase }, phase === state.phase ? 1 : 0);
    },
  });
  new Gauge({
    name: 'gateway_upstream_reachable',
    help: '1 where a connection to the upstream could be made just now.',
    labelNames: ['upstream'],
    registers: [registry],
    async collect() {
      for (const [upstream, reachable] of Object.entries(await probes.states())) {
        this.set({ upstream }, reachable === 'reachable' ? 1 : 0);
      }
    },
  });
}

function addLogMetrics(registry: Registry, { log }: GaugeSources): void {
  new Counter({
    name: 'gateway_log_lines_dropped_total',
    help: 'Log lines that were dropped because standard output did not take those before them.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(log.droppedLines);
    },
  });
  gauge(
    registry,
    'gateway_log_waiting_bytes',
    'Bytes of log lines that standard output has not taken yet; beyond 4 MiB lines are dropped.',
    () => log.waitingBytes,
  );
}

function addSecretFileGauge(registry: Registry, secretFiles: SecretFiles): void {
  new Gauge({
    name: 'gateway_secret_file_good',
    help: 'Whether a file of keys or secrets was good when it was last read; 0: the list from before is in use.',
    labelNames: ['setting'],
    registers: [registry],
    collect() {
      for (const { name, isFileGood } of secretFiles)
        this.set({ setting: name }, Number(isFileGood));
    },
  });
}

function addKeySetGauges(registry: Registry, keySet: TokenKeySet): void {
  gauge(
    registry,
    'gateway_token_keys_available',
    '1 where the key set of read tokens was had when it was last asked for.',
    () => (keySet.isAvailable ? 1 : 0),
  );
  gauge(
    registry,
    'gateway_token_keys_age_seconds',
    'Time since the key set of read tokens was last had, or since the start where it never was.',
    () => keySet.ageSeconds,
  );
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
