import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { InjectConfig, type GatewayConfig } from '../contract/gateway-config.ts';
import { overloaded } from '../platform/errors/gateway-error.ts';
import { HeldBytes } from '../platform/memory/held-bytes.ts';
import type { StateMetric } from '../platform/metrics/state-metric.ts';
import { BodyRoom, letBodyCome, readBody } from '../platform/server/request-body.ts';
import { Telemetry } from '../platform/telemetry/telemetry.ts';

/**
 * Reads a command's body up to the cap, and keeps its exact bytes. The command counts as open, and its body in the budget, from
 * before the body is read until the command is answered. That is so even if the client disconnects, because a command with a
 * key is still sent then. Open commands have a cap: each has a connection while it waits for the runtime, and all of them
 * together must not take the connections that readers need.
 */
@Injectable()
export class OpenCommandInterceptor implements NestInterceptor {
  private open = 0;

  constructor(
    @InjectConfig() private readonly config: GatewayConfig,
    private readonly held: HeldBytes,
    telemetry: Telemetry,
  ) {
    telemetry.show(this);
  }

  get metrics(): readonly StateMetric[] {
    return [
      {
        name: 'gateway_open_commands',
        help: 'Commands under way.',
        read: () => this.open,
      },
      {
        name: 'gateway_open_commands_limit',
        help: 'Commands that may be under way at once, a quarter of the connections.',
        read: () => this.config.limits.maxOpenCommands,
      },
    ];
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    if (this.open >= this.config.limits.maxOpenCommands) {
      throw overloaded('open_commands', 'The gateway has too many commands in progress');
    }
    this.open++;
    const room = new BodyRoom(this.held);
    const end = (): void => {
      room.release();
      this.open--;
    };
    try {
      const { maxBodyBytes } = this.config;
      letBodyCome(request, context.switchToHttp().getResponse<Response>(), maxBodyBytes);
      request.body = await readBody(request, maxBodyBytes, room);
    } catch (error) {
      end();
      throw error;
    }
    return next.handle().pipe(finalize(end));
  }
}
