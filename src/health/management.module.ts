import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import type { Logger } from 'pino';
import { ProblemFilter } from '../platform/server/problem.filter.ts';
import { MetricsController } from './metrics.controller.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { GatewayState } from '../platform/server/gateway-state.ts';
import { SECRET_FILES, type SecretFiles } from './secret-files.ts';
import { ManagementController } from './management.controller.ts';
import { UpstreamProbes } from './upstream-probes.ts';

/** The objects that the management port reports on. */
export interface ManagementParts {
  state: GatewayState;
  probes: UpstreamProbes;
  secretFiles: SecretFiles;
  telemetry: Telemetry;
}

/** The management port's application: probes and metrics, only for the cluster. */
@Module({})
export class ManagementModule {
  static with(
    { state, probes, secretFiles, telemetry }: ManagementParts,
    logger: Logger,
  ): DynamicModule {
    return {
      module: ManagementModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [ManagementController, MetricsController],
      providers: [
        { provide: GatewayState, useValue: state },
        { provide: UpstreamProbes, useValue: probes },
        { provide: SECRET_FILES, useValue: secretFiles },
        { provide: Telemetry, useValue: telemetry },
        { provide: APP_FILTER, useValue: new ProblemFilter(logger) },
      ],
    };
  }
}
