import { Global, Module, type DynamicModule } from '@nestjs/common';
import { SharedReads } from './shared-reads.ts';
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
        { provide: SharedReads, useValue: sharedReads },
      ],
      exports: [UpstreamCalls, SharedReads],
    };
  }
}
