import { Global, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { HeldBytes } from '../memory/held-bytes.ts';
import { MemoryWatch } from '../memory/memory-watch.ts';
import { processMemory } from '../memory/process-memory.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { Connections } from './connections.ts';
import type { GatewayAdapter } from './gateway.adapter.ts';
import { GatewayState } from './gateway-state.ts';
import { OpenRequests } from './open-requests.ts';
import { ProblemFilter } from './problem.filter.ts';
import { serverMetrics } from './server-metrics.ts';
import { StalledClients } from './stalled-clients.ts';

/** What the server is made of, and its caps. */
export interface ServerSettings {
  adapter: GatewayAdapter;
  state: GatewayState;
  logger: Logger;
  telemetry: Telemetry;
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
    private readonly stalledClients: StalledClients,
    private readonly memoryWatch: MemoryWatch,
  ) {}

  static with({ adapter, state, logger, telemetry, ...settings }: ServerSettings): DynamicModule {
    const { maxConnections, maxHeldBytes, clientStallMs } = settings;
    const { server } = adapter;
    const held = new HeldBytes(maxHeldBytes);
    const openRequests = new OpenRequests();
    const connections = new Connections(server, maxConnections);
    const stalledClients = new StalledClients(connections, clientStallMs);
    const memoryWatch = new MemoryWatch(processMemory(), held, stalledClients, logger);
    const watched = { connections, stalledClients, memoryWatch };
    const shared = { state, held, openRequests };
    telemetry.show({ metrics: serverMetrics({ ...watched, ...shared }) });
    const providers = [adapter, ...Object.values(watched), ...Object.values(shared)].map(
      (part) => ({ provide: part.constructor, useValue: part }),
    );
    return {
      module: ServerModule,
      providers: [...providers, ProblemFilter],
      exports: [GatewayState, HeldBytes, OpenRequests, ProblemFilter],
    };
  }

  onApplicationShutdown(): void {
    this.stalledClients.stop();
    this.memoryWatch.stop();
  }
}
