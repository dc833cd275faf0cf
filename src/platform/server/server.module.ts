import { Global, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOGGER } from '../log/create-logger.ts';
import { HeldBytes } from '../memory/held-bytes.ts';
import { MemoryWatch } from '../memory/memory-watch.ts';
import { processMemory } from '../memory/process-memory.ts';
import { Telemetry } from '../telemetry/telemetry.ts';
import { AcceptBurst } from './accept-burst.ts';
import { ConnectionCap } from './connection-cap.ts';
import { Connections } from './connections.ts';
import { GatewayAdapter } from './gateway.adapter.ts';
import { GatewayState } from './gateway-state.ts';
import { OpenRequests } from './open-requests.ts';
import { ProblemFilter } from './problem.filter.ts';
import { serverMetrics } from './server-metrics.ts';
import { StalledClients } from './stalled-clients.ts';

/** What the server is made of, and its caps. */
export interface ServerSettings {
  adapter: GatewayAdapter;
  state: GatewayState;
  maxConnections: number;
  /** The budget of `HeldBytes`. */
  maxHeldBytes: number;
  /** The longest time in milliseconds in which a client may read nothing. */
  clientStallMs: number;
}

/** The connections of the public port, the open requests, and the memory that is held for them. */
@Global()
@Module({})
export class ServerModule implements OnApplicationShutdown {
  constructor(
    telemetry: Telemetry,
    state: GatewayState,
    connections: Connections,
    connectionCap: ConnectionCap,
    openRequests: OpenRequests,
    held: HeldBytes,
    private readonly stalledClients: StalledClients,
    private readonly memoryWatch: MemoryWatch,
  ) {
    const parts = { state, connections, connectionCap, openRequests, held };
    telemetry.show({ metrics: serverMetrics({ ...parts, stalledClients, memoryWatch }) });
  }

  static with({
    adapter,
    state,
    maxConnections,
    maxHeldBytes,
    clientStallMs,
  }: ServerSettings): DynamicModule {
    const { server } = adapter;
    return {
      module: ServerModule,
      providers: [
        { provide: GatewayAdapter, useValue: adapter },
        { provide: GatewayState, useValue: state },
        { provide: HeldBytes, useValue: new HeldBytes(maxHeldBytes) },
        OpenRequests,
        {
          provide: Connections,
          inject: [HeldBytes],
          useFactory: (held: HeldBytes) => new Connections(server, held),
        },
        {
          provide: ConnectionCap,
          inject: [Connections],
          useFactory: (connections: Connections) =>
            new ConnectionCap(server, connections, maxConnections),
        },
        {
          provide: AcceptBurst,
          inject: [Connections],
          useFactory: (connections: Connections) => new AcceptBurst(() => connections.accepted),
        },
        {
          provide: StalledClients,
          inject: [Connections],
          useFactory: (connections: Connections) => new StalledClients(connections, clientStallMs),
        },
        {
          provide: MemoryWatch,
          inject: [HeldBytes, StalledClients, LOGGER],
          useFactory: (held: HeldBytes, stalledClients: StalledClients, logger: Logger) =>
            new MemoryWatch(processMemory(), held, stalledClients, logger),
        },
        ProblemFilter,
      ],
      exports: [GatewayState, HeldBytes, OpenRequests, ProblemFilter],
    };
  }

  onApplicationShutdown(): void {
    this.stalledClients.stop();
    this.memoryWatch.stop();
  }
}
