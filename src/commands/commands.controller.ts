import {
  Body,
  Controller,
  HttpCode,
  Param,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Access } from '../auth/access.decorator.ts';
import { CommandAddressGuard } from './command-address.guard.ts';
import { Call } from './command-call.decorator.ts';
import type { CommandCall } from './command-headers.ts';
import { CommandsService, type CommandResponse } from './commands.service.ts';
import { IdempotencyKeyInterceptor } from './idempotency-key.interceptor.ts';
import { OpenCommandInterceptor } from './open-command.interceptor.ts';

/** Commands, plain and fully qualified by tenant. */
@Controller('api')
@Access('commands')
@UseGuards(CommandAddressGuard)
@UseInterceptors(IdempotencyKeyInterceptor, OpenCommandInterceptor)
export class CommandsController {
  constructor(private readonly commands: CommandsService) {}

  @Post(['spawn', 't/:tenant/spawn'])
  @HttpCode(202)
  spawn(@Body() body: Buffer, @Call() call: CommandCall): Promise<CommandResponse> {
    return this.commands.spawn(body, call);
  }

  @Post(['a/:type/:id/send', 't/:tenant/a/:type/:id/send'])
  @HttpCode(202)
  send(
    @Param('type') type: string,
    @Param('id') id: string,
    @Body() body: Buffer,
    @Call() call: CommandCall,
  ): Promise<CommandResponse> {
    return this.commands.send(type, id, body, call);
  }

  @Post(['a/:type/:id/control', 't/:tenant/a/:type/:id/control'])
  @HttpCode(202)
  control(
    @Param('type') type: string,
    @Param('id') id: string,
    @Body() body: Buffer,
    @Call() call: CommandCall,
  ): Promise<CommandResponse> {
    return this.commands.control(type, id, body, call);
  }
}
