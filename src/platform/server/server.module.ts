import { Global, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { CONFIG, type GatewayConfig } from '../config/gateway-config.ts';
import { LOGGER } from '../log/create-logger.ts';
import { HeldBytes } from '../memory/held-bytes.ts';
import { MemoryWatch } from '../memory/memory-watch.ts';
import { processMemory } from '../memory/process-memory.ts';
import { ConnectionCap } from './connection-cap.ts';
import { Connections } from './connections.ts';
import { GatewayAdapter } from './gateway.adapter.ts';
import { GatewayState } from './gateway-state.ts';
import { AcceptBurst } from './accept-burst.ts';
import { OpenRequests } from './open-requests.ts';
import { ProblemFilter } from './problem.filter.ts';
import { StalledClients } from './stalled-clients.ts';

/** The connections of the public port, the open requests, and the memory that is held for them. */
@Global()
@Module({})
export class ServerModule implements OnApplicationShutdown {
  constructor(
    private readonly stalledClients: StalledClients,
    private readonly memoryWatch: MemoryWatch,
  ) {}

  static with(adapter: GatewayAdapter, state: GatewayState): DynamicModule {
    const { server } = adapter;
    return {
      module: ServerModule,
      providers: [
        { provide: GatewayAdapter, useValue: adapter },
        { provide: GatewayState, useValue: state },
        OpenRequests,
        {
          provide: HeldBytes,
          inject: [CONFIG],
          useFactory: ({ limits }: GatewayConfig) => new HeldBytes(limits.maxHeldBytes),
        },
        {
          provide: Connections,
          inject: [HeldBytes],
          useFactory: (held: HeldBytes) => new Connections(server, held),
        },
        {
          provide: ConnectionCap,
          inject: [Connections, CONFIG],
          useFactory: (connections: Connections, { limits }: GatewayConfig) =>
            new ConnectionCap(server, connections, limits.maxConnections),
        },
        {
          provide: AcceptBurst,
          inject: [Connections],
          useFactory: (connections: Connections) => new AcceptBurst(() => connections.accepted),
        },
        {
          provide: StalledClients,
          inject: [Connections, CONFIG],
          useFactory: (connections: Connections, { timeouts }: GatewayConfig) =>
            new StalledClients(connections, timeouts.clientStallMs),
        },
        {
          provide: MemoryWatch,
          inject: [HeldBytes, StalledClients, LOGGER],
          useFactory: (held: HeldBytes, stalledClients: StalledClients, logger: Logger) =>
            new MemoryWatch(processMemory(), held, stalledClients, logger),
        },
        ProblemFilter,
      ],
      exports: [
        GatewayState,
        HeldBytes,
        OpenRequests,
        Connections,
        StalledClients,
        MemoryWatch,
        ProblemFilter,
      ],
    };
  }

  onApplicationShutdown(): void {
    this.stalledClients.stop();
    this.memoryWatch.stop();
  }
}
