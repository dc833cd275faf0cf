import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import type { Logger } from 'pino';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { ProblemFilter } from '../errors/problem.filter.ts';
import { GatewayState } from './gateway-state.ts';
import { ManagementController } from './management.controller.ts';
import { UpstreamProbes } from './upstream-probes.ts';

/** The management port's application: probes, for the cluster alone. */
@Module({})
export class ManagementModule {
  static with(config: GatewayConfig, logger: Logger, state: GatewayState): DynamicModule {
    return {
      module: ManagementModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [ManagementController],
      providers: [
        { provide: GatewayState, useValue: state },
        { provide: UpstreamProbes, useValue: new UpstreamProbes(config) },
        { provide: APP_FILTER, useValue: new ProblemFilter(logger) },
      ],
    };
  }
}
