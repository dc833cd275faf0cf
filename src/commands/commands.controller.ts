import { Controller, HttpCode, Param, Post, Req, UseGuards, UseInterceptors } from '@nestjs/common';
import { Access } from '../auth/access.decorator.ts';
import { CommandAddressGuard } from './command-address.guard.ts';
import { CommandsService, type CommandRequest, type CommandResponse } from './commands.service.ts';
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
  spawn(@Req() request: CommandRequest): Promise<CommandResponse> {
    return this.commands.spawn(request);
  }

  @Post(['a/:type/:id/send', 't/:tenant/a/:type/:id/send'])
  @HttpCode(202)
  send(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: CommandRequest,
  ): Promise<CommandResponse> {
    return this.commands.send(type, id, request);
  }

  @Post(['a/:type/:id/control', 't/:tenant/a/:type/:id/control'])
  @HttpCode(202)
  control(
    @Param('type') type: string,
    @Param('id') id: string,
    @Req() request: CommandRequest,
  ): Promise<CommandResponse> {
    return this.commands.control(type, id, request);
  }
}
