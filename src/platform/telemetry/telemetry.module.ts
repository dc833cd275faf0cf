import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ReadShareMetrics } from './read-share-metrics.ts';
import type { Telemetry } from './telemetry.ts';
import { UpstreamCalls } from './upstream-calls.ts';

/** Provides the observers of upstream calls and of shared reads. */
@Global()
@Module({})
export class TelemetryModule {
  static with({ upstreamCalls, sharedReads }: Telemetry): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [
        { provide: UpstreamCalls, useValue: upstreamCalls },
        { provide: ReadShareMetrics, useValue: sharedReads },
      ],
      exports: [UpstreamCalls, ReadShareMetrics],
    };
  }
}
