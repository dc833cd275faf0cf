import { Module } from '@nestjs/common';
import { Telemetry } from '../platform/telemetry/telemetry.ts';
import { ProxyModule } from '../proxy/proxy.module.ts';
import { CommandsController } from './commands.controller.ts';
import { CommandsService } from './commands.service.ts';
import { RuntimeClient } from './runtime-client.ts';

@Module({
  imports: [ProxyModule],
  controllers: [CommandsController],
  providers: [CommandsService, RuntimeClient],
})
export class CommandsModule {
  constructor(telemetry: Telemetry, runtime: RuntimeClient) {
    telemetry.show(runtime);
  }
}
