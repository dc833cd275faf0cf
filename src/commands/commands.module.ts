import { Module } from '@nestjs/common';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { UpstreamModule } from '../proxy/upstream/upstream.module.ts';
import { CommandsController } from './commands.controller.ts';
import { CommandsService } from './commands.service.ts';
import { RuntimeClient } from './runtime-client.ts';

@Module({
  imports: [UpstreamModule],
  controllers: [CommandsController],
  providers: [CommandsService, RuntimeClient],
})
export class CommandsModule {
  constructor(telemetry: Telemetry, runtime: RuntimeClient) {
    telemetry.show(runtime);
  }
}
