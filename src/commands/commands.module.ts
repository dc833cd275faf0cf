import { Module } from '@nestjs/common';
import { UpstreamModule } from '../proxy/upstream/upstream.module.ts';
import { CommandsController } from './commands.controller.ts';
import { CommandsService } from './commands.service.ts';
import { RuntimeClient } from './runtime-client.ts';

@Module({
  imports: [UpstreamModule],
  controllers: [CommandsController],
  providers: [CommandsService, RuntimeClient],
  exports: [RuntimeClient],
})
export class CommandsModule {}
