import type { HeldBytes } from '../memory/held-bytes.ts';
import type { MemoryWatch } from '../memory/memory-watch.ts';
import type { StateMetric } from '../metrics/state-metric.ts';
import type { Connections } from './connections.ts';
import { GATEWAY_PHASES, type GatewayState } from './gateway-state.ts';
import type { OpenRequests } from './open-requests.ts';
import type { StalledClients } from './stalled-clients.ts';

/** What the server's metrics are read from. */
export interface ServerParts {
  state: GatewayState;
  connections: Connections;
  openRequests: OpenRequests;
  held: HeldBytes;
  stalledClients: StalledClients;
  memoryWatch: MemoryWatch;
}

/** The state of the public port: what it does, its requests, its connections, its memory. */
export function serverMetrics(parts: ServerParts): readonly StateMetric[] {
  return [...connectionMetrics(parts), ...memoryMetrics(parts)];
}

function connectionMetrics({
  state,
  connections,
  openRequests,
}: ServerParts): readonly StateMetric[] {
  return [
    {
      name: 'gateway_phase',
      help: '1 for what the gateway is doing, 0 for the rest: serving, or one of the steps of its drain.',
      label: 'phase',
      read: () =>
        Object.fromEntries(GATEWAY_PHASES.map((phase) => [phase, Number(phase === state.phase)])),
    },
    {
      name: 'http_server_active_requests',
      help: 'Requests under way, reads included.',
      read: () => openRequests.size,
    },
    {
      name: 'gateway_parked_reads',
      help: 'Reads under way that wait for what is new, by how: parked long-polls, open streams of events.',
      label: 'mode',
      read: () => ({ ...openRequests.countLive() }),
    },
    {
      name: 'gateway_connections',
      help: 'Connections of the public port.',
      read: () => connections.count,
    },
    {
      name: 'gateway_connections_limit',
      help: 'Connections that may be open at once (GATEWAY_MAX_CONNECTIONS).',
      read: () => connections.maxConnections,
    },
    {
      name: 'gateway_network_bytes_total',
      help: 'Bytes received from clients and sent to them, heads included.',
      label: 'direction',
      isCounter: true,
      read: () => ({ ...connections.bytes() }),
    },
  ];
}

function memoryMetrics({
  connections,
  held,
  stalledClients,
  memoryWatch,
}: ServerParts): readonly StateMetric[] {
  return [
    {
      name: 'gateway_held_bytes',
      help: 'Bytes held in memory for others: answers that clients have not taken, events for slow and later readers, request bodies.',
      label: 'kind',
      read: () => held.byKind,
    },
    {
      name: 'gateway_held_bytes_limit',
      help: 'Bytes that may be held, of all kinds.',
      read: () => held.limitBytes,
    },
    {
      name: 'gateway_memory_used_ratio',
      help: 'Share of its memory limit that the process uses, sockets in the kernel included where its control group counts them; or that of its heap where that is larger.',
      read: () => memoryWatch.usedShare,
    },
    {
      name: 'gateway_memory_limit_bytes',
      help: 'Memory that the process may use: the limit of its control group, else the memory of the machine.',
      read: () => memoryWatch.limitBytes,
    },
    {
      name: 'gateway_clients_ended_total',
      help: 'Clients whose connection was ended, by why: they took nothing for too long, what was held for them was needed, they sent too many requests ahead, or another client needed the place of their idle connection.',
      label: 'reason',
      isCounter: true,
      read: () => ({
        stalled: stalledClients.stalledCount,
        memory: stalledClients.shedCount + held.shedCount,
        waiting_requests: connections.overfullCount,
        idle: connections.displacedCount,
      }),
    },
  ];
}
