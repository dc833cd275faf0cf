import { Module } from '@nestjs/common';
import { CommandsController } from './commands.controller.ts';
import { CommandsService } from './commands.service.ts';
import { RuntimeClient } from './runtime-client.ts';

@Module({ controllers: [CommandsController], providers: [CommandsService, RuntimeClient] })
export class CommandsModule {}
