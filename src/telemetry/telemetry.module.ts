import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Telemetry } from './telemetry.ts';
import { UpstreamCalls } from './upstream-calls.ts';

/** Makes injectable what is told of calls to upstreams. */
@Global()
@Module({})
export class TelemetryModule {
  static with({ upstreamCalls }: Telemetry): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [{ provide: UpstreamCalls, useValue: upstreamCalls }],
      exports: [UpstreamCalls],
    };
  }
}
