import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import type { Logger } from 'pino';
import { ProblemFilter } from '../server/problem.filter.ts';
import { MetricsController } from './metrics.controller.ts';
import { Telemetry } from '../telemetry/telemetry.ts';
import { GatewayState } from '../server/gateway-state.ts';
import { ManagementController } from './management.controller.ts';
import { UpstreamProbes } from './upstream-probes.ts';

/** What the management port tells of. */
export interface ManagementParts {
  state: GatewayState;
  probes: UpstreamProbes;
  telemetry: Telemetry;
}

/** The management port's application: probes and metrics, for the cluster alone. */
@Module({})
export class ManagementModule {
  static with({ state, probes, telemetry }: ManagementParts, logger: Logger): DynamicModule {
    return {
      module: ManagementModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [ManagementController, MetricsController],
      providers: [
        { provide: GatewayState, useValue: state },
        { provide: UpstreamProbes, useValue: probes },
        { provide: Telemetry, useValue: telemetry },
        { provide: APP_FILTER, useValue: new ProblemFilter(logger) },
      ],
    };
  }
}
