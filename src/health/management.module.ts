import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import type { Logger } from 'pino';
import { ProblemFilter } from '../platform/server/problem.filter.ts';
import { MetricsController } from './metrics.controller.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { SecretFiles } from '../platform/config/secret-files.ts';
import { GatewayState } from '../platform/server/gateway-state.ts';
import { ManagementController } from './management.controller.ts';
import { UpstreamProbes } from './upstream-probes.ts';

/** The objects that the management port reports on. */
export interface ManagementParts {
  state: GatewayState;
  secretFiles: SecretFiles;
  probes: UpstreamProbes;
  telemetry: Telemetry;
}

/** The management port's application: probes and metrics, only for the cluster. */
@Module({})
export class ManagementModule {
  static with(
    { state, secretFiles, probes, telemetry }: ManagementParts,
    logger: Logger,
  ): DynamicModule {
    return {
      module: ManagementModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [ManagementController, MetricsController],
      providers: [
        { provide: GatewayState, useValue: state },
        { provide: SecretFiles, useValue: secretFiles },
        { provide: UpstreamProbes, useValue: probes },
        { provide: Telemetry, useValue: telemetry },
        { provide: APP_FILTER, useValue: new ProblemFilter(logger) },
      ],
    };
  }
}
