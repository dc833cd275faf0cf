import { Module } from '@nestjs/common';
import { CONFIG, type GatewayConfig } from '../contract/gateway-config.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { UpstreamModule } from '../proxy/upstream/upstream.module.ts';
import { CommandsController } from './commands.controller.ts';
import { CommandsService } from './commands.service.ts';
import { OpenCommandLimit } from './open-command-limit.ts';
import { RuntimeClient } from './runtime-client.ts';

@Module({
  imports: [UpstreamModule],
  controllers: [CommandsController],
  providers: [
    CommandsService,
    RuntimeClient,
    {
      provide: OpenCommandLimit,
      inject: [CONFIG],
      useFactory: ({ limits }: GatewayConfig) => new OpenCommandLimit(limits.maxOpenCommands),
    },
  ],
})
export class CommandsModule {
  constructor(telemetry: Telemetry, runtime: RuntimeClient, limit: OpenCommandLimit) {
    telemetry.show(runtime);
    telemetry.show(limit);
  }
}
